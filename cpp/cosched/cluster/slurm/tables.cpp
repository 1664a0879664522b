#include "cosched/cluster/slurm/tables.hpp"

namespace cosched::cluster::slurm {

Tables::Tables(const Scenario& given, double controller_start, const Record& record)
    : scenario(given),
      queue(given, controller_start),
      allocations(given),
      updates{whole(controller_start), whole(controller_start)},
      journal(given.jobs().size(), record) {}

void Tables::submit(int job, double time) {
  queue.add(job, time);
  updates.jobs = whole(time);
}

void Tables::start(int job, const NodeBits& nodes, double time, Scheduler by) {
  allocations.start(job, nodes, whole(time));
  updates.both(whole(time));
  journal.start(job, time, by, allocations);
}

void Tables::end(int job, double time, bool killed) {
  allocations.end(job, whole(time));
  updates.both(whole(time));
  journal.end(job, time, killed);
}

void Tables::epilog(int job, double time) {
  allocations.clean(job);
  updates.both(whole(time));
}

std::vector<int> Tables::overdue(Second now) const {
  std::vector<int> late;
  const Second over_time = scenario.settings().ends.over_time_limit;
  if (over_time >= kNever) return late;
  for (const int job : allocations.running()) {
    if (allocations.due(job) + over_time > now) break;
    late.push_back(job);
  }
  return late;
}

bool Tables::completing(Second now) const {
  const Second wait = scenario.settings().ends.complete_wait;
  return wait > 0 && allocations.completing_since(now - wait);
}

}  // namespace cosched::cluster::slurm
