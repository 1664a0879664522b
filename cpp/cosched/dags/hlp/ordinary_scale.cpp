#include "cosched/dags/hlp/ordinary_scale.hpp"

#include <cmath>
#include <cstdlib>

#include "cosched/dags/hlp/bounds.hpp"

namespace cosched::dags::hlp {
namespace {

constexpr int kOrdinaryPower = 20;   // powers of two around 1
constexpr int kGreatestPower = 900;  // of any time: sums of them must not overflow

Instance scale_times(const Instance& instance, int power) {
  Table times = instance.times();
  for (double& time : times) time = std::ldexp(time, power);
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

}  // namespace

HlpSolution at_ordinary_scale(const Instance& instance,
                              const std::function<HlpSolution(const Instance&)>& solve) {
  const double path = critical_path_bound(instance);
  if (!(path > 0)) return solve(instance);
  const int power =
      std::max(std::ilogb(path), std::ilogb(longest_finite(instance.times())) - kGreatestPower);
  if (std::abs(power) <= kOrdinaryPower) return solve(instance);
  HlpSolution solution = solve(scale_times(instance, -power));
  solution.value = std::ldexp(solution.value, power);
  for (double& end : solution.completion) end = std::ldexp(end, power);
  return solution;
}

}  // namespace cosched::dags::hlp
