// The tables of slurmctld, and the life of a job in them (RULES.md 6).  Both schedulers read and
// change them; time is given.
#pragma once

#include "cosched/slurm/limits/accounting_policy.hpp"
#include "cosched/slurm/limits/limits.hpp"
#include "cosched/slurm/queue/queue.hpp"
#include "cosched/slurm/queue/readiness.hpp"
#include "cosched/slurm/select/reservations.hpp"
#include "cosched/slurm/state/journal.hpp"

namespace cosched::slurm {

struct ControllerState {
  /// `decay_start`: of the thread that accounts usage.  Requires that `given` outlives it.
  ControllerState(const Scenario& given, double controller_start, const RecordOptions& record,
                  double decay_start = 0)
      : scenario(given),
        allocations(given),
        usage(given, decay_start),
        queue(given, usage),
        readiness(given, allocations),
        licences(given),
        policy(given, decay_start),
        reservations(given),
        updates{to_second(controller_start), to_second(controller_start)},
        journal(given.jobs().size(), record),
        preemption(given, allocations),
        gang(given) {}

  /// A job that runs from the beginning holds what it has.
  void adopt_running(int job) {
    const RunningState& running = *scenario.job(job).running_state;
    NodeChoice choice(scenario.machine().nodes);
    choice.shares = running.shares;
    choice.set_nodes_from_shares();
    const QueueEntry entry{job, scenario.job(job).partition};
    set_cores(entry, choice);
    policy.submit(job);
    allocate(entry, choice, running.start, Scheduler::main);
  }

  /// Gives it cores where jobs are suspended: idle ones, else some that a job of another partition
  /// has, too.
  void set_cores(QueueEntry entry, NodeChoice& choice) const {
    if (!scenario.suspends_jobs()) return;
    const CoreMap& map = allocations.cores();
    int wanted = 0;
    for (const Share& share : choice.shares.nodes) wanted += share.cores;
    choice.partition = entry.partition;
    choice.cores = map.lowest_free_cores(choice.shares.nodes, map.allocated_cores());
    if (choice.cores.count() < wanted)
      choice.cores = map.lowest_free_cores(choice.shares.nodes, map.cores_of(entry.partition));
  }

  /// Usage, and priorities, as of the last pass of the thread that accounts it.
  void advance(double time) {
    if (decay_blocked) return;
    policy.advance(time);
    if (!usage.advance(time)) return;
    const std::vector<int> waiting = readiness.unheld_jobs();
    queue.recalculate(waiting);
    if (!waiting.empty() || !queue.entries().empty())
      updates.last_job_update = usage.last_pass_time();
  }

  void submit(int job, double time) {
    advance(time);
    policy.submit(job);
    allocations.add_to_list(job);
    queue.submit(job, time);
    if (readiness.submit(job, to_second(time)))
      queue.enter(job);
    else
      queue.stop_age(job);
    updates.last_job_update = to_second(time);
  }

  /// A pass or a cycle begins: the queue is in order.
  void sort_queue() {
    queue.sort_as_slurmctld([&](int job) { return allocations.list_place(job); });
  }

  /// Jobs that are ready by now wait in the queue.
  void admit(double time) {
    advance(time);
    preemption.begin_pass();
    std::vector<int> fresh;  // that nothing keeps them any more is seen after ages
    readiness.admit(to_second(time), [&](int job, bool free_before) {
      const Conditions& of = scenario.job(job).conditions;
      queue.start_age(job,
                      of.dependencies.empty() && !of.is_held && of.begin > 0 ? of.begin : time);
      if (free_before)
        queue.enter(job);
      else
        fresh.push_back(job);
    });
    queue.start_next_ages(time);
    for (const int job : fresh) queue.enter(job);
  }

  void start(QueueEntry entry, const NodeChoice& choice, double time, Scheduler by) {
    const auto j = static_cast<std::size_t>(entry.job);
    if (j < start_delays.size() && !std::isnan(start_delays[j])) time += start_delays[j];
    allocate(entry, choice, time, by);
    updates.mark_both(to_second(time));
  }

  void end(int job, double time, bool killed) {
    release_resources(job, time, true);
    readiness.end(job, killed || scenario.job(job).exits_with_error);
    journal.end(job, time, killed);
  }

  void complete_epilog(int job, double time) {
    allocations.complete_epilog(job);
    updates.mark_both(to_second(time));
    if (scenario.suspends_jobs()) apply_switches(gang.end(job), time);
  }

  /// A held job is none any more.
  void release(int job, double time) {
    advance(time);
    readiness.release(job);
    queue.set_new_priority(job);
    updates.last_job_update = to_second(time);
  }

  /// A running job must end: it runs again, two minutes later at the earliest, or (`again` is
  /// false, or it must not) is over.
  void terminate(int job, double time, bool again) {
    constexpr Second kCredential = 121;
    const Second begin = to_second(time) + kCredential;
    again = again && scenario.job(job).can_requeue;
    if (again)
      requeue(job, time, begin);
    else
      end(job, time, true);
    terminated_jobs.push_back({job, again, begin});
  }

  /// For another; it may have some time left.
  void preempt(int job, double time) {
    const Second left = preemption.grace_time(job);
    if (left > 0 &&
        grace_deadlines.try_emplace(job, to_second(time) + left).first->second > to_second(time))
      return;
    journal.preempt(job, time);
    terminate(job, time, preemption.mode(job) == Preemption::Mode::requeue);
  }

  /// Running jobs whose time is over.
  std::vector<int> grace_expired(Second now) const {
    std::vector<int> found;
    for (const auto& [job, until] : grace_deadlines)
      if (until <= now) found.push_back(job);
    return found;
  }

  /// Running jobs past their limits (RULES.md 5.8: a year is none) and OverTimeLimit, by (due, job).
  std::vector<int> overdue(Second now) const {
    std::vector<int> late;
    const Second over_time = scenario.settings().job_ends.over_time_limit;
    if (over_time < kNever)
      for (const int job : allocations.running()) {
        if (allocations.expected_end(job) + over_time > now) break;
        if (!allocations.is_suspended(job) && !scenario.job(job).is_unlimited) late.push_back(job);
      }
    for (const int job : allocations.running())
      if (policy.exceeded_group_limit(job) &&
          std::find(late.begin(), late.end(), job) == late.end())
        late.push_back(job);
    if (scenario.reservations().empty()) return late;
    // Jobs in a reservation end with it.
    for (const int job : allocations.running()) {
      const int which = scenario.job(job).conditions.reservation;
      if (which < 0 || std::find(late.begin(), late.end(), job) != late.end()) continue;
      const Reservation& own = scenario.reservations()[which];
      if (own.end + scenario.settings().job_ends.resv_over_run <= now) late.push_back(job);
    }
    return late;
  }

  /// CompleteWait: no job is scheduled while a job that has just ended is completing.
  bool waits_for_completion(Second now) const {
    const Second wait = scenario.settings().job_ends.complete_wait;
    return wait > 0 && allocations.has_completing_since(now - wait);
  }

  const Scenario& scenario;
  Allocations allocations;
  Usage usage;
  Queue queue;
  Readiness readiness;
  Licences licences;
  AccountingPolicy policy;
  Reservations reservations;
  LastUpdates updates;
  Journal journal;
  Preemption preemption;
  Gang gang;
  // As recorded: s from when a pass or cycle began or went on until it started the job.
  std::vector<double> start_delays;
  bool decay_blocked = false;  // the thread that accounts usage waits for the locks
  struct TerminatedJob {
    int job;
    bool is_requeued;
    Second earliest_begin;
  };
  std::vector<TerminatedJob> terminated_jobs;  // since somebody looked
  std::vector<Gang::GangSwitch>
      gang_switches;  // jobs that stopped or went on, since somebody looked
  // Jobs that another takes the place of, and until when they run.
  std::map<int, Second> grace_deadlines = {};

 private:
  // The job runs on what it has from now on.
  void allocate(QueueEntry entry, const NodeChoice& choice, double time, Scheduler by) {
    allocations.start(entry.job, choice, to_second(time));
    usage.start(entry.job, price_of(scenario, entry, choice), to_second(time));
    readiness.count_tasks(entry.job, 1);
    licences.take(entry.job);
    policy.start(entry, choice, to_second(time));
    preemption.start(entry);
    journal.start(entry, time, by, allocations);
    if (scenario.suspends_jobs()) apply_switches(gang.start(entry, choice.cores), time);
  }

  // It gives that back; `over`: it is no submitted one any more.
  void release_resources(int job, double time, bool over) {
    advance(time);
    usage.end(job, to_second(time));
    allocations.end(job, to_second(time));
    readiness.count_tasks(job, -1);
    licences.release(job);
    policy.end(job, to_second(time), over);
    grace_deadlines.erase(job);
    updates.mark_both(to_second(time));
  }

  void requeue(int job, double time, Second begin) {
    release_resources(job, time, false);
    readiness.requeue(job, begin);
    queue.resubmit(job, time, scenario.settings().is_24_11);
    journal.requeue(job);
  }

  void apply_switches(const std::vector<Gang::GangSwitch>& turns, double time) {
    for (const Gang::GangSwitch& one : turns) {
      if (!allocations.running(one.job)) continue;
      if (one.is_suspended)
        allocations.suspend(one.job, to_second(time));
      else
        allocations.resume(one.job, to_second(time));
      journal.suspend_or_resume(one.job, time, one.is_suspended);
      gang_switches.push_back(one);
    }
  }
};

/// Which limit keeps a waiting job when a simulation begins, and whose jobs must end (RULES.md 14).
struct LimitBlock {
  std::string reason;  // as squeue writes it
  double limit, used;
  std::vector<int> blocking_jobs;  // that run and count in it
};

/// By job; none: no limit is in the way, or the job runs.
inline std::vector<std::optional<LimitBlock>> limit_blocks(const Scenario& scenario) {
  ControllerState controller(scenario, 0, {});
  const int jobs = static_cast<int>(scenario.jobs().size());
  for (int job = 0; job < jobs; ++job)
    if (scenario.job(job).running_state) controller.adopt_running(job);
  std::vector<std::optional<LimitBlock>> all(scenario.jobs().size());
  const AccountingPolicy& policy = controller.policy;
  for (int job = 0; job < jobs; ++job) {
    if (scenario.job(job).running_state) continue;
    const QueueEntry entry{job, scenario.job(job).partition};
    AccountingPolicy::Violation held = policy.violation_before_nodes(entry);
    if (!held) held = policy.violation_with_nodes(entry, scenario.job(entry).nodes);
    if (held)
      all[job] = LimitBlock{reason_of(*held), held->limit.value, policy.counted_usage(*held),
                            policy.running_jobs_of(*held)};
  }
  return all;
}

}  // namespace cosched::slurm
