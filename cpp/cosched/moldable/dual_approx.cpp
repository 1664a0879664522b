#include "cosched/moldable/dual_approx.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/bounds.hpp"

namespace cosched::moldable {

DualApproximation dual_approximation(const Instance& instance, double tolerance) {
  if (!(tolerance > 0) || tolerance == kInfinity)
    throw InvalidInstance("tolerance = " + to_text(tolerance) + ": expected a positive number");
  instance.require(Monotone::times_and_work);
  instance.require_no_releases("the dual approximation");
  std::optional<ShelfSchedule> best;
  double bound = std::max(longest_bound(instance), area_bound(instance));

  // Tries d; true: a schedule was built.
  const auto accepted = [&](double d) {
    check_interrupt();
    const std::optional<Split> split = split_jobs(instance, d);
    if (!split) {
      bound = std::max(bound, d);
      return false;
    }
    std::optional<ShelfSchedule> found = build_shelves(instance, *split);
    if (!found) return false;
    if (!best || makespan(found->placement) < makespan(best->placement)) best = std::move(found);
    return true;
  };

  double low = bound, high = bound;
  while (!accepted(high)) {
    low = high;
    high *= 2;
  }
  while (high > low * (1 + tolerance)) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;  // neighbouring numbers
    (accepted(middle) ? high : low) = middle;
  }
  return {std::move(*best), bound};
}

}  // namespace cosched::moldable
