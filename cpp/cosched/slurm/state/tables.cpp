#include "cosched/slurm/state/tables.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::slurm {

Tables::Tables(const Scenario& given, double controller_start, const Record& record,
               double decay_start)
    : scenario(given),
      allocations(given),
      usage(given, decay_start),
      queue(given, usage),
      readiness(given, allocations),
      licences(given),
      policy(given, decay_start),
      reservations(given),
      updates{whole(controller_start), whole(controller_start)},
      journal(given.jobs().size(), record),
      preemption(given, allocations),
      gang(given) {}

void Tables::hold(int job) {
  const Running& running = *scenario.job(job).running;
  Choice choice(scenario.machine().nodes);
  choice.shares = running.holds;
  for (const Share& share : choice.shares.nodes) choice.nodes.add(share.node);
  const Entry entry{job, scenario.job(job).partition};
  set_cores(entry, choice);
  allocations.start(job, choice, whole(running.start));
  usage.start(job, price_of(scenario, entry, choice), whole(running.start));
  readiness.count(job, 1);
  licences.take(job);
  policy.submit(job);
  policy.start(entry, choice, whole(running.start));
  preemption.start(entry);
  journal.start(entry, running.start, Scheduler::main, allocations);
  if (scenario.suspends()) turn(gang.start(entry, choice.cores), running.start);
}

void Tables::advance(double time) {
  if (locked) return;
  policy.advance(time);
  if (!usage.advance(time)) return;
  const std::vector<int> waiting = readiness.not_held();
  queue.recalculate(waiting);
  if (!waiting.empty() || !queue.entries().empty()) updates.jobs = usage.last_pass();
}

void Tables::submit(int job, double time) {
  advance(time);
  policy.submit(job);
  allocations.enter(job);
  queue.submit(job, time);
  if (readiness.submit(job, whole(time)))
    queue.enter(job);
  else
    queue.kept(job);
  updates.jobs = whole(time);
}

void Tables::admit(double time) {
  advance(time);
  preemption.begin();
  std::vector<int> fresh;  // that nothing keeps them any more is seen after ages
  readiness.admit(whole(time), [&](int job, bool free_before) {
    const Conditions& of = scenario.job(job).conditions;
    queue.ready(job, of.after.empty() && !of.held && of.begin > 0 ? of.begin : time);
    if (free_before)
      queue.enter(job);
    else
      fresh.push_back(job);
  });
  queue.let_accrue(time);
  for (const int job : fresh) queue.enter(job);
}

void Tables::start(Entry entry, const Choice& choice, double time, Scheduler by) {
  const auto j = static_cast<std::size_t>(entry.job);
  if (j < delays.size() && !std::isnan(delays[j])) time += delays[j];
  allocations.start(entry.job, choice, whole(time));
  usage.start(entry.job, price_of(scenario, entry, choice), whole(time));
  readiness.count(entry.job, 1);
  licences.take(entry.job);
  policy.start(entry, choice, whole(time));
  preemption.start(entry);
  updates.both(whole(time));
  journal.start(entry, time, by, allocations);
  if (scenario.suspends()) turn(gang.start(entry, choice.cores), time);
}

void Tables::set_cores(Entry entry, Choice& choice) const {
  if (!scenario.suspends()) return;
  const CoreMap& map = allocations.cores();
  int wanted = 0;
  for (const Share& share : choice.shares.nodes) wanted += share.cores;
  choice.part = entry.part;
  choice.cores = map.lowest(choice.shares.nodes, map.taken());
  if (choice.cores.count() < wanted)
    choice.cores = map.lowest(choice.shares.nodes, map.of(entry.part));
}

void Tables::turn(const std::vector<Gang::Turn>& turns, double time) {
  for (const Gang::Turn& one : turns) {
    if (!allocations.running(one.job)) continue;
    if (one.suspended)
      allocations.suspend(one.job, whole(time));
    else
      allocations.resume(one.job, whole(time));
    journal.turn(one.job, time, one.suspended);
    turned.push_back(one);
  }
}

void Tables::end(int job, double time, bool killed) {
  advance(time);
  usage.end(job, whole(time));
  allocations.end(job, whole(time));
  readiness.count(job, -1);
  readiness.end(job, killed || scenario.job(job).fails);
  licences.give(job);
  policy.end(job, whole(time), true);
  graced.erase(job);
  updates.both(whole(time));
  journal.end(job, time, killed);
}

void Tables::epilog(int job, double time) {
  allocations.clean(job);
  updates.both(whole(time));
  if (scenario.suspends()) turn(gang.over(job), time);
}

void Tables::release(int job, double time) {
  advance(time);
  readiness.release(job);
  queue.prioritise(job);
  updates.jobs = whole(time);
}

void Tables::requeue(int job, double time, Second begin) {
  advance(time);
  usage.end(job, whole(time));
  allocations.end(job, whole(time));
  readiness.count(job, -1);
  licences.give(job);
  policy.end(job, whole(time), false);
  graced.erase(job);
  readiness.requeue(job, begin);
  queue.resubmit(job, time, scenario.settings().since_24);
  updates.both(whole(time));
  journal.requeue(job);
}

void Tables::stop(int job, double time, bool again) {
  constexpr Second kCredential = 121;
  const Second begin = whole(time) + kCredential;
  again = again && scenario.job(job).requeue;
  if (again)
    requeue(job, time, begin);
  else
    end(job, time, true);
  stopped.push_back({job, again, begin});
}

void Tables::preempt(int job, double time) {
  const Second left = preemption.grace(job);
  if (left > 0 && graced.try_emplace(job, whole(time) + left).first->second > whole(time)) return;
  journal.preempt(job, time);
  stop(job, time, preemption.mode(job) == Preemption::Mode::requeue);
}

std::vector<int> Tables::doomed(Second now) const {
  std::vector<int> found;
  for (const auto& [job, until] : graced)
    if (until <= now) found.push_back(job);
  return found;
}

std::vector<int> Tables::overdue(Second now) const {
  std::vector<int> late;
  const Second over_time = scenario.settings().ends.over_time_limit;
  if (over_time < kNever)
    for (const int job : allocations.running()) {
      if (allocations.due(job) + over_time > now) break;
      if (!allocations.suspended(job)) late.push_back(job);
    }
  for (const int job : allocations.running())
    if (policy.used_up(job) && std::find(late.begin(), late.end(), job) == late.end())
      late.push_back(job);
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

std::vector<std::optional<HeldUp>> held_up(const Scenario& scenario) {
  Tables tables(scenario, 0, {});
  const int jobs = static_cast<int>(scenario.jobs().size());
  for (int job = 0; job < jobs; ++job)
    if (scenario.job(job).running) tables.hold(job);
  std::vector<std::optional<HeldUp>> all(scenario.jobs().size());
  const Policy& policy = tables.policy;
  for (int job = 0; job < jobs; ++job) {
    if (scenario.job(job).running) continue;
    const Entry entry{job, scenario.job(job).partition};
    Policy::Held held = policy.before_nodes(entry);
    if (!held) held = policy.with_nodes(entry, scenario.job(entry).nodes);
    if (held)
      all[static_cast<std::size_t>(job)] = HeldUp{reason_of(*held), held->limit.value,
                                                  policy.counted(*held), policy.running_in(*held)};
  }
  return all;
}

}  // namespace cosched::slurm
