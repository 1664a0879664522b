#include "cosched/moldable/dual/dual_approx.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/list/list_schedule.hpp"

namespace cosched::moldable::dual {
namespace {

ShelfSchedule list_cheapest_counts(const Instance& instance, double d) {
  Allotment procs(instance.jobs());
  std::vector<double> time(instance.jobs());
  std::vector<int> order(instance.jobs());
  for (int i = 0; i < instance.jobs(); ++i) {
    procs[i] = instance.cheapest_procs(i, d);
    time[i] = instance.time(i, procs[i]);
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return time[a] > time[b]; });
  return {list::list_schedule(instance, procs, order), order};
}

}  // namespace

double guarantee(const Instance& instance) { return instance.has_monotone_work() ? 1.5 : 2; }

DualApproximation dual_approximation(const Instance& instance, double tolerance) {
  if (!(tolerance > 0) || tolerance == kInfinity)
    throw InvalidInstance("tolerance = " + to_text(tolerance) + ": expected a positive number");
  instance.require_no_releases("the dual approximation");
  if (!instance.has_independent_jobs())
    return dual_approximation(instance.as_independent_jobs(), tolerance);
  std::optional<ShelfSchedule> best;
  double bound = std::max(bounds::longest_bound(instance), bounds::area_bound(instance));

  const auto offer = [&](ShelfSchedule shelves) {
    if (!best || makespan(shelves.placement) < makespan(best->placement)) best = std::move(shelves);
  };
  // Tries d; true: a schedule within the guarantee was built.
  const auto accepted = [&](double d) {
    check_interrupt();
    const std::optional<ShelfSplit> split = split_jobs(instance, d);
    if (!split) {
      bound = std::max(bound, d);
      return false;
    }
    std::optional<ShelfSchedule> shelves = build_shelves(instance, *split);
    const bool is_built = shelves.has_value();
    if (is_built) offer(std::move(*shelves));
    if (instance.has_monotone_work()) return is_built;
    offer(list_cheapest_counts(instance, d));
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
    if (accepted(middle))
      high = middle;
    else
      low = middle;
  }
  return {std::move(*best), bound};
}

double dual_approximation_bound(const Instance& instance, double tolerance) {
  if (!instance.has_releases()) return dual_approximation(instance, tolerance).bound;
  std::vector<int> all_jobs(instance.jobs());
  std::iota(all_jobs.begin(), all_jobs.end(), 0);
  return std::max(bounds::window_bound(instance),
                  dual_approximation(instance.select(all_jobs), tolerance).bound);
}

double default_horizon(const Instance& instance) {
  return makespan(dual_approximation(instance).schedule.placement);
}

}  // namespace cosched::moldable::dual
