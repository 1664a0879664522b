#include "cosched/moldable/baselines.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/moldable/list_schedule.hpp"

namespace cosched::moldable {
namespace {

// Jobs by increasing key; ties to the lowest.
template <class Key>
std::vector<int> sorted_by(int jobs, Key key) {
  std::vector<double> keys(jobs);
  for (int i = 0; i < jobs; ++i) keys[i] = key(i);
  std::vector<int> order(jobs);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace

Placement gang(const Instance& instance) {
  instance.require_no_releases("gang");
  const int m = instance.machines();
  const auto order =
      sorted_by(instance.jobs(), [&](int i) { return -instance.weight(i) / instance.time(i, m); });
  Placement placement = unplaced(instance.jobs());
  double from = 0;
  for (const int i : order) {
    place(instance, placement, i, m, from);
    from = placement.end[i];
  }
  return placement;
}

Placement sequential(const Instance& instance) {
  instance.require_no_releases("sequential");
  Allotment procs(instance.jobs());
  for (int i = 0; i < instance.jobs(); ++i) procs[i] = instance.fewest(i);
  return list_schedule(instance, procs, sorted_by(instance.jobs(), [&](int i) {
                         return -instance.time(i, procs[i]);
                       }));
}

Placement list_graham(const Instance& instance, ListOrder order, double tolerance) {
  return list_graham(instance, order, dual_approximation(instance, tolerance).schedule);
}

Placement list_graham(const Instance& instance, ListOrder order, const ShelfSchedule& shelves) {
  const Allotment& procs = shelves.placement.procs;
  if (order == ListOrder::shelf) return list_schedule(instance, procs, shelves.order);
  return list_schedule(instance, procs, sorted_by(instance.jobs(), [&](int i) {
                         if (order == ListOrder::saf) return instance.work(i, procs[i]);
                         return -instance.weight(i) / instance.time(i, procs[i]);
                       }));
}

}  // namespace cosched::moldable
