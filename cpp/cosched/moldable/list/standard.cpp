#include "cosched/moldable/list/standard.hpp"

#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/list_schedule.hpp"

namespace cosched::moldable::list {
namespace {

Choice fastest_choice(const Instance& instance, int i) {
  if (instance.sharing() != nullptr) return fitting_counts(instance, i).back();
  const int q = instance.used_procs(i, instance.machines());
  return {q, instance.time(i, q)};
}

Choice narrowest_choice(const Instance& instance, int i) {
  if (instance.sharing() != nullptr) return fitting_counts(instance, i).front();
  return {instance.fewest_procs(i), instance.time(i, instance.fewest_procs(i))};
}

}  // namespace

Placement gang(const Instance& instance) {
  instance.require_no_releases("gang");
  instance.require_no_edges("gang");
  std::vector<Choice> choices;
  for (int i = 0; i < instance.jobs(); ++i) choices.push_back(fastest_choice(instance, i));
  Placement placement = empty_placement(instance.jobs());
  double now = 0;
  for (const int i : order_jobs_by(instance.jobs(),
                                   [&](int i) { return -instance.weight(i) / choices[i].time; })) {
    placement.procs[i] = choices[i].procs;
    placement.start[i] = now;
    now += choices[i].time;
    placement.end[i] = now;
  }
  return placement;
}

Placement sequential(const Instance& instance) {
  instance.require_no_releases("sequential");
  Allotment procs;
  std::vector<double> time;
  for (int i = 0; i < instance.jobs(); ++i) {
    const Choice choice = narrowest_choice(instance, i);
    procs.push_back(choice.procs);
    time.push_back(choice.time);
  }
  return list_schedule(instance, procs,
                       order_jobs_by(instance.jobs(), [&](int i) { return -time[i]; }));
}

}  // namespace cosched::moldable::list
