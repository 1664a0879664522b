// The tables of slurmctld, and the life of a job in them (RULES.md 6).  Both schedulers read and
// change them; time is given.
#pragma once

#include "cosched/slurm/limits/limits.hpp"
#include "cosched/slurm/limits/policy.hpp"
#include "cosched/slurm/queue/queue.hpp"
#include "cosched/slurm/queue/readiness.hpp"
#include "cosched/slurm/select/reservations.hpp"
#include "cosched/slurm/state/journal.hpp"

namespace cosched::slurm {

struct Tables {
  /// `decay_start`: of the thread that accounts usage.  Requires that `given` outlives it.
  Tables(const Scenario& given, double controller_start, const Record& record,
         double decay_start = 0)
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

  /// A job that runs from the beginning holds what it has.
  void hold(int job) {
    const Running& running = *scenario.job(job).running;
    Choice choice(scenario.machine().nodes);
    choice.shares = running.holds;
    choice.list_nodes();
    const Entry entry{job, scenario.job(job).partition};
    set_cores(entry, choice);
    policy.submit(job);
    take(entry, choice, running.start, Scheduler::main);
  }

  /// Gives it cores where jobs are suspended: nobody's, else some that a job of another partition
  /// has, too.
  void set_cores(Entry entry, Choice& choice) const {
    if (!scenario.suspends()) return;
    const CoreMap& map = allocations.cores();
    int wanted = 0;
    for (const Share& share : choice.shares.nodes) wanted += share.cores;
    choice.part = entry.part;
    choice.cores = map.lowest(choice.shares.nodes, map.taken());
    if (choice.cores.count() < wanted)
      choice.cores = map.lowest(choice.shares.nodes, map.of(entry.part));
  }

  /// Usage, and priorities, as of the last pass of the thread that accounts it.
  void advance(double time) {
    if (locked) return;
    policy.advance(time);
    if (!usage.advance(time)) return;
    const std::vector<int> waiting = readiness.not_held();
    queue.recalculate(waiting);
    if (!waiting.empty() || !queue.entries().empty()) updates.jobs = usage.last_pass();
  }

  void submit(int job, double time) {
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

  /// A pass or a cycle begins: the queue is in order.
  void arrange_queue() {
    queue.arrange([&](int job) { return allocations.list_place(job); });
  }

  /// Jobs that are ready by now wait in the queue.
  void admit(double time) {
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

  void start(Entry entry, const Choice& choice, double time, Scheduler by) {
    const auto j = static_cast<std::size_t>(entry.job);
    if (j < delays.size() && !std::isnan(delays[j])) time += delays[j];
    take(entry, choice, time, by);
    updates.both(whole(time));
  }

  void end(int job, double time, bool killed) {
    give(job, time, true);
    readiness.end(job, killed || scenario.job(job).fails);
    journal.end(job, time, killed);
  }

  void epilog(int job, double time) {
    allocations.clean(job);
    updates.both(whole(time));
    if (scenario.suspends()) turn(gang.over(job), time);
  }

  /// A held job is none any more.
  void release(int job, double time) {
    advance(time);
    readiness.release(job);
    queue.prioritise(job);
    updates.jobs = whole(time);
  }

  /// A running job must end: it runs again, two minutes later at the earliest, or (`again` is
  /// false, or it must not) is over.
  void stop(int job, double time, bool again) {
    constexpr Second kCredential = 121;
    const Second begin = whole(time) + kCredential;
    again = again && scenario.job(job).requeue;
    if (again)
      requeue(job, time, begin);
    else
      end(job, time, true);
    stopped.push_back({job, again, begin});
  }

  /// For another; it may have some time left.
  void preempt(int job, double time) {
    const Second left = preemption.grace(job);
    if (left > 0 && graced.try_emplace(job, whole(time) + left).first->second > whole(time)) return;
    journal.preempt(job, time);
    stop(job, time, preemption.mode(job) == Preemption::Mode::requeue);
  }

  /// Running jobs whose time is over.
  std::vector<int> doomed(Second now) const {
    std::vector<int> found;
    for (const auto& [job, until] : graced)
      if (until <= now) found.push_back(job);
    return found;
  }

  /// Running jobs past their limits (RULES.md 5.8: a year is none) and OverTimeLimit, by (due, job).
  std::vector<int> overdue(Second now) const {
    std::vector<int> late;
    const Second over_time = scenario.settings().ends.over_time_limit;
    if (over_time < kNever)
      for (const int job : allocations.running()) {
        if (allocations.due(job) + over_time > now) break;
        if (!allocations.suspended(job) && !scenario.job(job).unlimited) late.push_back(job);
      }
    for (const int job : allocations.running())
      if (policy.used_up(job) && std::find(late.begin(), late.end(), job) == late.end())
        late.push_back(job);
    if (scenario.reservations().empty()) return late;
    // Jobs in a reservation end with it.
    for (const int job : allocations.running()) {
      const int which = scenario.job(job).conditions.reservation;
      if (which < 0 || std::find(late.begin(), late.end(), job) != late.end()) continue;
      const Reservation& own = scenario.reservations()[which];
      if (own.end + scenario.settings().ends.over_run <= now) late.push_back(job);
    }
    return late;
  }

  /// CompleteWait: nobody is scheduled while a job that has just ended is completing.
  bool completing(Second now) const {
    const Second wait = scenario.settings().ends.complete_wait;
    return wait > 0 && allocations.completing_since(now - wait);
  }

  const Scenario& scenario;
  Allocations allocations;
  Usage usage;
  Queue queue;
  Readiness readiness;
  Licences licences;
  Policy policy;
  Reservations reservations;
  Updates updates;
  Journal journal;
  Preemption preemption;
  Gang gang;
  // As recorded: s from when a pass or cycle began or went on until it started the job.
  std::vector<double> delays;
  bool locked = false;  // the thread that accounts usage waits for the locks
  struct Stopped {
    int job;
    bool again;
    Second begin;
  };
  std::vector<Stopped> stopped;    // since somebody looked
  std::vector<Gang::Turn> turned;  // jobs that stopped or went on, since somebody looked
  // Jobs that another takes the place of, and until when they run.
  std::map<int, Second> graced = {};

 private:
  // The job runs on what it has from now on.
  void take(Entry entry, const Choice& choice, double time, Scheduler by) {
    allocations.start(entry.job, choice, whole(time));
    usage.start(entry.job, price_of(scenario, entry, choice), whole(time));
    readiness.count(entry.job, 1);
    licences.take(entry.job);
    policy.start(entry, choice, whole(time));
    preemption.start(entry);
    journal.start(entry, time, by, allocations);
    if (scenario.suspends()) turn(gang.start(entry, choice.cores), time);
  }

  // It gives that back; `over`: it is no submitted one any more.
  void give(int job, double time, bool over) {
    advance(time);
    usage.end(job, whole(time));
    allocations.end(job, whole(time));
    readiness.count(job, -1);
    licences.give(job);
    policy.end(job, whole(time), over);
    graced.erase(job);
    updates.both(whole(time));
  }

  void requeue(int job, double time, Second begin) {
    give(job, time, false);
    readiness.requeue(job, begin);
    queue.resubmit(job, time, scenario.settings().since_24);
    journal.requeue(job);
  }

  void turn(const std::vector<Gang::Turn>& turns, double time) {
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
};

/// Which limit keeps a waiting job when a simulation begins, and whose jobs must end (RULES.md 14).
struct HeldUp {
  std::string reason;  // as squeue writes it
  double limit, used;
  std::vector<int> jobs;  // that run and count in it
};

/// By job; none: no limit is in the way, or the job runs.
inline std::vector<std::optional<HeldUp>> held_up(const Scenario& scenario) {
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
      all[job] = HeldUp{reason_of(*held), held->limit.value, policy.counted(*held),
                        policy.running_in(*held)};
  }
  return all;
}

}  // namespace cosched::slurm
