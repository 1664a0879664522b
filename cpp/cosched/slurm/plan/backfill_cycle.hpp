// The backfill cycle: the jobs, in the order of the queue, start or get reservations (RULES.md 4).
// A reservation is a planned start; what administrators reserve is called an advance reservation.
#pragma once

#include "cosched/slurm/clocks/cycle_clock.hpp"
#include "cosched/slurm/limits/test_counts.hpp"
#include "cosched/slurm/plan/cycle_memory.hpp"
#include "cosched/slurm/plan/cycle_tracer.hpp"
#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {

/// `_attempt_backfill` of Slurm's backfill.c.  For one job (`try_job`) it repeats four steps: which
/// nodes the job may have from a time on (`nodes_at`); when it can begin on them (`earliest_slot`);
/// whether it starts, is tried again at a later time, gets no reservation, or gets one
/// (`start_now`, `classify`); and what that leaves for the jobs behind it (`reserve`).  A memory
/// around these steps (`recall_or_try`) spares tries that would only repeat an earlier one.
class BackfillCycle {
 public:
  /// Requires that all arguments outlive the cycle.  `trace_sink` gets the traces of the cycles
  /// that it wants; null: of none.  Earlier tries are remembered where `select` remembers its
  /// answers.
  BackfillCycle(const Clocks& clocks, ControllerState& controller, Select& select,
                TraceSink* trace_sink = nullptr);

  /// Begins a cycle: starts jobs, reserves nodes for others, and returns those that it started.
  /// The cycle may yield its locks before it is over; then other parts of the controller run until
  /// `resume_time`.
  std::vector<int> run(double time);
  /// True while the cycle has yielded its locks (`_yield_locks`) and is not over.
  bool has_yielded() const { return resume_time_ < kInfinity; }
  double resume_time() const { return resume_time_; }
  /// Continues a cycle that has yielded; returns the jobs that it started since then.
  std::vector<int> resume();
  /// True when the cycle has yielded and already asks for its locks again: who asks for them at
  /// `time` gets them only when the cycle yields the next time, or is over.
  bool is_reacquiring_locks(double time) const {
    return has_yielded() && time > yield_time_ + kYieldSleep;
  }
  /// The epilog on these nodes is complete.  Nodes that become available while the cycle has
  /// yielded are ignored until it is over.
  void on_epilog_complete(const NodeBits& nodes);
  /// How long the last cycle took (s).
  double duration() const;

 private:
  enum class LoopAction { continue_queue, stop_cycle, retry_job };
  enum class StartResult { started, over_limit, no_nodes };
  // What became of a job.
  struct TryOutcome {
    LoopAction action;
    Verdict verdict;
    Second begin = 0;  // of its slot; of a dry run that decides nothing, when it is tried again
    Second end = 0;    // of its reservation
  };

  // A job that is tried, and what has happened to it so far in this try.
  struct JobTry {
    QueueEntry entry;
    const Job& job;
    Second now;
    Second limit;  // the job's, or the shorter one that NoReserve uses
    // Slurm yields in the middle of a job after its first test.  A dry run repeats that test, to
    // find the time of the next one: it starts and reserves nothing.
    bool is_dry_run;
    bool starts_now_or_never = false;
    bool has_no_reserve = false;           // its QOS has the flag NoReserve
    bool depends_on_reservations = false;  // an advance reservation may take nodes from it
    TryEffects effects = {};
  };
  // An entry of the cycle's queue, with its priority when the cycle began.
  struct CycleEntry {
    QueueEntry entry;
    double priority;
  };
  // A job in whose middle the cycle yielded, and the time from which it is tried next.
  struct InterruptedTry {
    QueueEntry entry;
    Second retry_from;
  };
  // What a job may have from a time on.
  struct AvailableNodes {
    Second from;             // as asked, or later because of maintenance
    const NodeBits* nodes;   // valid until the next call of nodes_at
    Second later_start;      // when more nodes become available
    Second unchanged_until;  // the nodes are the same for each `from` before this time
  };
  struct Classification {
    enum class Kind { retry_later, reject, reserve } kind;
    Second retry_from = 0;
    NextTest next_test = NextTest::none;  // of a job that is tried again
    Verdict verdict = Verdict::no_nodes;  // of a job that is rejected
  };

  // The default of bf_yield_sleep, in seconds: for so long a cycle that has yielded does not ask
  // for its locks again.
  static constexpr double kYieldSleep = 0.5;
  // The limit, in seconds, with which a job of a QOS with NoReserve is tested where jobs are
  // preempted, as in backfill.c.
  static constexpr Second kNoReserveLimit = 60;

  void clear_planned_mark();
  bool keep_planned_mark(Second now);
  CycleProgress progress() const { return {job_test_count_, jobs_examined_, start_count_}; }
  void begin_slice(double time);
  void yield_locks(const Slice& slice);
  void begin_node_space();
  std::vector<int> attempt_backfill();
  void finish_slice(Second now);
  void trace_queue();
  void trace_limit(AccountingPolicy::Violation violation);

  std::optional<InterruptedTry> next_interrupted_try(Second now);
  int first_pending_task() const;
  int array_of_entry(std::size_t index) const;
  void restore_priority();
  std::optional<Verdict> ineligibility(QueueEntry entry) const;
  bool is_array_rejected(QueueEntry entry) const;
  std::optional<Verdict> count_and_skip(QueueEntry entry);

  TryOutcome recall_or_try(QueueEntry entry, Second now, Second retry_from);
  TryKey key_of(const JobTry& attempt) const;
  void repeat_effects(const JobTry& attempt, const TryEffects& effects);

  JobTry make_try(QueueEntry entry, Second now, bool is_dry_run) const;
  TryOutcome try_job(JobTry& attempt, Second retry_from);
  std::optional<AvailableNodes> nodes_at(JobTry& attempt, Second from);
  Select::Slot earliest_slot(JobTry& attempt, const AvailableNodes& available);
  void observe_test(const JobTry& attempt, const AvailableNodes& available,
                    const Select::Slot& slot);
  std::optional<TryOutcome> start_now(JobTry& attempt, const AvailableNodes& available,
                                      Select::Slot& slot);
  Classification classify(JobTry& attempt, const Select::Slot& slot, Second later_start,
                          bool tests_overlap_first);
  TryOutcome reserve(const JobTry& attempt, const Select::Slot& slot);

  bool is_free_in_node_space(const Select::Slot& slot, Second limit) const;
  StartResult start(QueueEntry entry, const NodeBits& available_nodes);
  std::optional<Select::Slot> will_run(QueueEntry entry, const NodeBits& available_nodes,
                                       const Select::StartWindow& window);
  void preempt(QueueEntry entry, const NodeBits& available_nodes);
  void allow_next_task(int job);
  Second end_of_plan(Second begin, Second limit) const;

  const Clocks& clocks_;
  ControllerState& controller_;
  Select& select_;
  const Settings::Backfill settings_;

  // Kept from cycle to cycle.
  CycleMemory memory_;
  NodeBits planned_nodes_;  // idle nodes of reservations: the mark PLANNED
  std::size_t cycle_count_ = 0;
  std::int64_t slices_run_ = 0;  // of all cycles so far

  // Of the cycle.
  std::unique_ptr<CycleClock> cycle_clock_;
  NodeSpace node_space_;
  TestCounts test_counts_;
  std::vector<CycleEntry> queue_;
  std::size_t next_entry_ = 0;     // of queue_
  std::vector<int> planned_jobs_;  // where bf_one_resv_per_job is set
  int rejected_array_ = -1;        // reject_array_job: a task got no reservation
  int rejected_partition_ = -1;    // reject_array_part
  int planned_array_ = -1;         // of the last reservation
  int array_plan_count_ = 0;       // reservations of tasks of that array
  NodeBits begin_nodes_;           // nodes that were up at its begin
  NodeBits ignored_nodes_;         // bf_ignore_node_bitmap, and nodes gone down
  double cycle_start_ = 0;
  Second window_end_ = 0;
  int job_test_count_ = 0;  // of the last cycle where this one would repeat it
  int jobs_examined_ = 0;
  int start_count_ = 0;
  CycleEnd cycle_end_ = CycleEnd::end_of_queue;

  // Of the part of the cycle between two yields of its locks.
  double slice_start_ = 0;
  Second slice_start_second_ = 0;
  std::vector<int> started_jobs_;
  std::optional<InterruptedTry> interrupted_try_;  // none: the cycle yielded between two jobs
  double yield_time_ = 0;
  double resume_time_ = kInfinity;

  CycleTracer tracer_;

  // Scratch, kept so that nothing is allocated: nodes that advance reservations leave a job, and
  // those of them that have its features.
  NodeBits unreserved_nodes_;
  NodeBits feature_nodes_;
};

}  // namespace cosched::slurm
