#include "cosched/moldable/dual/dual_approx.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/list/decoder.hpp"
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

  const auto offer = [&](ShelfSchedule found) {
    if (!best || makespan(found.placement) < makespan(best->placement)) best = std::move(found);
  };
  // Tries d; true: a schedule within the guarantee was built.
  const auto accepted = [&](double d) {
    check_interrupt();
    const std::optional<ShelfSplit> split = split_jobs(instance, d);
    if (!split) {
      bound = std::max(bound, d);
      return false;
    }
    std::optional<ShelfSchedule> found = build_shelves(instance, *split);
    const bool built = found.has_value();
    if (built) offer(std::move(*found));
    if (instance.has_monotone_work()) return built;
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
    (accepted(middle) ? high : low) = middle;
  }
  return {std::move(*best), bound};
}

double dual_approximation_bound(const Instance& instance, double tolerance) {
  if (!instance.has_releases()) return dual_approximation(instance, tolerance).bound;
  std::vector<int> all(instance.jobs());
  std::iota(all.begin(), all.end(), 0);
  return std::max(bounds::window_bound(instance),
                  dual_approximation(instance.select(all), tolerance).bound);
}

double default_horizon(const Instance& instance) {
  return makespan(dual_approximation(instance).schedule.placement);
}

Placement list_graham(const Instance& instance, ListOrder order, double tolerance) {
  return list_graham(instance, order, dual_approximation(instance, tolerance).schedule);
}

Placement list_graham(const Instance& instance, ListOrder order, const ShelfSchedule& shelves) {
  const Allotment procs = list::fitting_allotment(instance, shelves.placement.procs);
  if (order == ListOrder::shelf) return list::list_schedule(instance, procs, shelves.order);
  return list::list_schedule(instance, procs, list::order_jobs_by(instance.jobs(), [&](int i) {
                               const double time = instance.exact_time(i, procs[i]);
                               return order == ListOrder::saf ? procs[i] * time
                                                              : -instance.weight(i) / time;
                             }));
}

}  // namespace cosched::moldable::dual
