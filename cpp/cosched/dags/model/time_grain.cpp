#include "cosched/dags/model/time_grain.hpp"

#include <cmath>

namespace cosched::dags {

double time_grain(const Instance& instance) {
  constexpr double kMaxMultiples =
      1e9;  // multiples: finer than the tolerance of bounds it is of no use
  double grain = 0, sum = 0;
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type) {
      double time = instance.time(task, type);
      if (time == kInfinity) continue;
      sum += time;
      while (time > 0) {  // Euclid; std::fmod is exact
        const double remainder = grain > 0 ? std::fmod(grain, time) : 0;
        grain = time;
        time = remainder;
      }
      if (sum > kMaxMultiples * grain) return 0;
    }
  return grain;
}

double least_multiple_above(double refuted, double grain) {
  if (grain <= 0) return refuted;
  double count = std::floor(refuted / grain);
  while (std::fma(count, grain, -refuted) > 0) --count;  // the sign is exact
  while (std::fma(count, grain, -refuted) <= 0) ++count;
  return count * grain;
}

}  // namespace cosched::dags
