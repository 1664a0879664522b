#include "cosched/cluster/slurm/tables.hpp"

#include <algorithm>

namespace cosched::cluster::slurm {

Tables::Tables(const Scenario& given, double controller_start, const Record& record)
    : scenario(given),
      allocations(given),
      fair_share(given),
      groups(given),
      queue(given, controller_start, fair_share),
      readiness(given, allocations),
      licences(given),
      reservations(given),
      updates{whole(controller_start), whole(controller_start)},
      journal(given.jobs().size(), record) {}

void Tables::hold(int job) {
  const Running& running = *scenario.job(job).running;
  Choice choice(scenario.machine().nodes);
  choice.shares = running.holds;
  for (const Share& share : choice.shares.nodes) choice.nodes.add(share.node);
  allocations.start(job, choice, whole(running.start));
  readiness.count(job, 1);
  licences.take(job);
  groups.count(job, 1);
  journal.start({job, scenario.job(job).partition}, running.start, Scheduler::main, allocations);
}

void Tables::submit(int job, double time) {
  queue.submit(job, time);
  if (readiness.submit(job, whole(time))) queue.enter(job);
  updates.jobs = whole(time);
}

void Tables::admit(double time) {
  readiness.admit(whole(time), [&](int job) { queue.enter(job); });
}

void Tables::start(Entry entry, const Choice& choice, double time, Scheduler by) {
  allocations.start(entry.job, choice, whole(time));
  groups.count(entry.job, 1);
  readiness.count(entry.job, 1);
  licences.take(entry.job);
  updates.both(whole(time));
  journal.start(entry, time, by, allocations);
}

void Tables::give_back(int job, double time) {
  groups.count(job, -1);
  fair_share.end(job, allocations.due(job) - scenario.job(job).limit, time);
}

void Tables::end(int job, double time, bool killed) {
  allocations.end(job, whole(time));
  give_back(job, time);
  readiness.count(job, -1);
  readiness.end(job, killed || scenario.job(job).fails);
  licences.give(job);
  updates.both(whole(time));
  journal.end(job, time, killed);
}

void Tables::epilog(int job, double time) {
  allocations.clean(job);
  updates.both(whole(time));
}

void Tables::release(int job, double time) {
  readiness.release(job);
  queue.prioritise(job, time);
  updates.jobs = whole(time);
}

void Tables::requeue(int job, double time, Second begin) {
  allocations.end(job, whole(time));
  give_back(job, time);
  readiness.count(job, -1);
  licences.give(job);
  readiness.requeue(job, begin);
  queue.resubmit(job, time, scenario.settings().since_24);
  updates.both(whole(time));
  journal.requeue(job);
}

std::vector<int> Tables::overdue(Second now) const {
  std::vector<int> late;
  const Second over_time = scenario.settings().ends.over_time_limit;
  if (over_time < kNever)
    for (const int job : allocations.running()) {
      if (allocations.due(job) + over_time > now) break;
      late.push_back(job);
    }
  if (scenario.reservations().empty()) return late;
  // Jobs in a reservation end with it.
  for (const int job : allocations.running()) {
    const int which = scenario.job(job).conditions.reservation;
    if (which < 0 || std::find(late.begin(), late.end(), job) != late.end()) continue;
    const Reservation& own = scenario.reservations()[static_cast<std::size_t>(which)];
    if (own.end + scenario.settings().ends.over_run <= now) late.push_back(job);
  }
  return late;
}

bool Tables::completing(Second now) const {
  const Second wait = scenario.settings().ends.complete_wait;
  return wait > 0 && allocations.completing_since(now - wait);
}

}  // namespace cosched::cluster::slurm
