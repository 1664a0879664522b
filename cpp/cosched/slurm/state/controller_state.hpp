// The state of slurmctld, and the life of a job in it (RULES.md 6).  Both schedulers read and
// change it.
#pragma once

#include "cosched/slurm/limits/accounting_policy.hpp"
#include "cosched/slurm/limits/licences.hpp"
#include "cosched/slurm/queue/queue.hpp"
#include "cosched/slurm/queue/readiness.hpp"
#include "cosched/slurm/select/gang.hpp"
#include "cosched/slurm/select/preemption.hpp"
#include "cosched/slurm/select/reservations.hpp"
#include "cosched/slurm/state/journal.hpp"
#include "cosched/slurm/state/last_updates.hpp"

namespace cosched::slurm {

/// Invariant: allocations, usage, licences, limits, counts of tasks and the journal have the same
/// running jobs, and each change of jobs or nodes is noted in `updates`.  Callers read the parts;
/// only functions of this class change them.
class ControllerState {
 public:
  /// `decay_start`: of the thread that accounts usage.  Requires that `scenario` outlives it.
  ControllerState(const Scenario& scenario, double controller_start, const RecordOptions& record,
                  double decay_start = 0);
  ControllerState(const ControllerState&) = delete;
  ControllerState& operator=(const ControllerState&) = delete;

  const Scenario& scenario() const { return scenario_; }
  const Allocations& allocations() const { return allocations_; }
  const Usage& usage() const { return usage_; }
  const Queue& queue() const { return queue_; }
  const Readiness& readiness() const { return readiness_; }
  const Licences& licences() const { return licences_; }
  const AccountingPolicy& policy() const { return policy_; }
  const Reservations& reservations() const { return reservations_; }
  const LastUpdates& updates() const { return updates_; }
  const Journal& journal() const { return journal_; }
  const Preemption& preemption() const { return preemption_; }

  // --- jobs ---

  /// A job runs when the simulation begins: its nodes are allocated.
  void adopt_running(int job);
  /// Where jobs are suspended: chooses cores on the chosen nodes, idle ones, else some that a job
  /// of another partition has, too.
  void set_cores(QueueEntry entry, NodeChoice& choice) const;
  void submit(int job, double time);
  /// A held job is released.
  void release(int job, double time);
  void start(QueueEntry entry, const NodeChoice& choice, double time, Scheduler scheduler);
  void end(int job, double time, bool is_killed);
  void complete_epilog(int job, double time);
  /// A requeued job whose epilog is complete is pending again.
  void mark_pending(int job) { allocations_.mark_pending(job); }
  /// A running job must end.  It is requeued, to run again two minutes later at the earliest, or
  /// (`should_requeue` is false, or the job cannot be requeued) is over.
  void terminate(int job, double time, bool should_requeue);
  /// A running job is preempted; with a GraceTime it ends only when that is over.
  void preempt(int job, double time);
  /// Running jobs whose GraceTime is over.
  std::vector<int> grace_expired(Second now) const;
  /// Running jobs past their limits (RULES.md 5.8: a year is none) and OverTimeLimit, by (due,
  /// job).
  std::vector<int> overdue(Second now) const;
  /// CompleteWait: no job is scheduled while a job that has just ended is completing.
  bool waits_for_completion(Second now) const;

  struct TerminatedJob {
    int job;
    bool is_requeued;
    Second earliest_begin;
  };
  /// Jobs that were terminated, and jobs that were suspended or resumed, since the last call of
  /// `take_*`.
  const std::vector<TerminatedJob>& terminated_jobs() const { return terminated_jobs_; }
  const std::vector<Gang::GangSwitch>& gang_switches() const { return gang_switches_; }
  std::vector<TerminatedJob> take_terminated_jobs();
  std::vector<Gang::GangSwitch> take_gang_switches();

  // --- the queue ---

  /// Makes the passes of the decay thread up to `time`: they change usage and priorities.
  void advance(double time);
  /// True: the decay thread waits for the locks.
  void block_decay(bool is_blocked) { is_decay_blocked_ = is_blocked; }
  /// Jobs that are ready by now enter the queue.
  void admit(double time);
  /// A pass or a cycle begins: the queue is sorted.
  void sort_queue();
  void remove_started_jobs();
  void remove_from_queue(int job);
  void clear_queue();
  void recalculate_priorities() { queue_.recalculate(); }
  /// Nodes have been looked for: all of the job's CPUs count at the next recalculation.
  void mark_tested(int job) { queue_.mark_tested(job); }
  /// The job has this priority again; `resort_queue` follows after the last one.
  void restore_priority(int job, double priority) { queue_.set_priority(job, priority); }
  void resort_queue() { queue_.resort_if_restored(); }

  // --- nodes, preemption ---

  void set_nodes_up(const NodeBits& nodes, bool are_up) {
    allocations_.set_nodes_up(nodes, are_up);
  }
  /// As the functions of `Preemption` with these names.
  Preemption::Victims choose_victims(QueueEntry entry, const NodeBits& allowed_nodes, Second now,
                                     Select& select);
  bool try_begin_preemption(int job, Second now);
  void begin_preemption_pass() { preemption_.begin_pass(); }
  /// These running jobs count as ended for as long as the returned object lives.
  Preemption::ScopedHidden hide_jobs(std::vector<int> jobs);

  // --- notes ---

  /// Jobs, nodes, or both have changed: more work for a cycle (RULES.md 3.2).
  void note_job_change(Second now) { updates_.last_job_update = now; }
  void note_node_change(Second now) { updates_.last_node_update = now; }
  void note_change(Second now) { updates_.mark_both(now); }
  void note_cycle(double time) { journal_.note_cycle(time); }
  void note_wait(int job, double time, Action reason) { journal_.note_wait(job, time, reason); }
  void note_limit(int job, double time, const LimitRule& rule) {
    journal_.note_limit(job, time, rule);
  }
  void note_plan(QueueEntry entry, double time, Second begin, Second end, const NodeBits& nodes) {
    journal_.note_plan(entry, time, begin, end, nodes);
  }
  /// By job, s from when a pass or cycle began or resumed until it started the job; not a number:
  /// not recorded.
  void set_start_delays(std::vector<double> delays) { start_delays_ = std::move(delays); }
  Outcome outcome() && { return std::move(journal_).outcome(); }

 private:
  void allocate(QueueEntry entry, const NodeChoice& choice, double time, Scheduler scheduler);
  void release_resources(int job, double time, bool is_over);
  void requeue(int job, double time, Second earliest_begin);
  void apply_switches(const std::vector<Gang::GangSwitch>& switches, double time);

  const Scenario& scenario_;
  Allocations allocations_;
  Usage usage_;
  Queue queue_;
  Readiness readiness_;
  Licences licences_;
  AccountingPolicy policy_;
  Reservations reservations_;
  LastUpdates updates_;
  Journal journal_;
  Preemption preemption_;
  Gang gang_;
  std::vector<double> start_delays_;
  bool is_decay_blocked_ = false;
  std::vector<TerminatedJob> terminated_jobs_;
  std::vector<Gang::GangSwitch> gang_switches_;
  std::map<int, Second> grace_deadlines_;  // of preempted jobs
};

}  // namespace cosched::slurm
