#include "cosched/moldable/list/baselines.hpp"

#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/list/order.hpp"

namespace cosched::moldable::list {
Placement gang(const Instance& instance) {
  instance.require_no_releases("gang");
  const int m = instance.machines();
  const auto order =
      jobs_by(instance.jobs(), [&](int i) { return -instance.weight(i) / instance.time(i, m); });
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
  return list_schedule(instance, procs, jobs_by(instance.jobs(), [&](int i) {
                         return -instance.time(i, procs[i]);
                       }));
}

}  // namespace cosched::moldable::list
