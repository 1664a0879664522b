#include "cosched/moldable/list/baselines.hpp"

#include <vector>

#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/list/order.hpp"

namespace cosched::moldable::list {
namespace {

Choice fastest(const Instance& instance, int i) {
  if (instance.sharing() != nullptr) return fitting_counts(instance, i).back();
  const int q = instance.used(i, instance.machines());
  return {q, instance.time(i, q)};
}

Choice fewest(const Instance& instance, int i) {
  if (instance.sharing() != nullptr) return fitting_counts(instance, i).front();
  return {instance.fewest(i), instance.time(i, instance.fewest(i))};
}

}  // namespace

Placement gang(const Instance& instance) {
  instance.require_no_releases("gang");
  instance.require_no_edges("gang");
  std::vector<Choice> chosen;
  for (int i = 0; i < instance.jobs(); ++i) chosen.push_back(fastest(instance, i));
  Placement placement = unplaced(instance.jobs());
  double now = 0;
  for (const int i :
       jobs_by(instance.jobs(), [&](int i) { return -instance.weight(i) / chosen[i].time; })) {
    placement.procs[i] = chosen[i].procs;
    placement.start[i] = now;
    placement.end[i] = now += chosen[i].time;
  }
  return placement;
}

Placement sequential(const Instance& instance) {
  instance.require_no_releases("sequential");
  Allotment procs;
  std::vector<double> time;
  for (int i = 0; i < instance.jobs(); ++i) {
    const Choice chosen = fewest(instance, i);
    procs.push_back(chosen.procs);
    time.push_back(chosen.time);
  }
  return list_schedule(instance, procs, jobs_by(instance.jobs(), [&](int i) { return -time[i]; }));
}

}  // namespace cosched::moldable::list
