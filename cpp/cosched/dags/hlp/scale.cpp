#include "cosched/dags/hlp/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "cosched/dags/hlp/bounds.hpp"

namespace cosched::dags::hlp {
namespace {

constexpr int kOrdinary = 20;   // powers of two around 1
constexpr int kGreatest = 900;  // of any time: sums of them must not overflow

Instance scaled(const Instance& instance, int power) {
  Table times = instance.times();
  for (double& time : times) time = std::ldexp(time, power);
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

}  // namespace

Solution at_ordinary_scale(const Instance& instance,
                           const std::function<Solution(const Instance&)>& solve) {
  const double path = critical_path_bound(instance);
  if (!(path > 0)) return solve(instance);
  const int power =
      std::max(std::ilogb(path), std::ilogb(longest_finite(instance.times())) - kGreatest);
  if (std::abs(power) <= kOrdinary) return solve(instance);
  Solution found = solve(scaled(instance, -power));
  found.value = std::ldexp(found.value, power);
  for (double& end : found.completion) end = std::ldexp(end, power);
  return found;
}

}  // namespace cosched::dags::hlp
