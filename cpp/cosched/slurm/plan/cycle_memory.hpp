// What a backfill cycle remembers of earlier tries and cycles, so that it need not repeat them.
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/plan/node_space.hpp"
#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {

/// What decides the outcome of a try, besides the kind of its job.
struct TryKey {
  int partition = -1;
  bool starts_now_or_never = false;
  Second now = 0;
  std::int64_t slice_number = 0;
  std::int64_t node_space_version = 0;
  std::int64_t allocations_version = 0;
  std::int64_t weights_version = 0;
  bool operator==(const TryKey& other) const = default;
};

/// What a try did to others, besides its outcome.
struct TryEffects {
  bool is_counted = false;          // in job_test_count
  bool has_found_nodes = false;     // for the job: it is marked as tested
  bool has_deferred_start = false;  // its begin was moved behind the time asked for
  bool has_tried_start = false;     // it could begin now
  int limited_node_count = 0;       // of the slot that an accounting limit rejected; 0: none did
};

/// The last try of a kind of jobs (equal request, limit, features and reservation) that ended with
/// neither start nor reservation.  With an equal key, the next job of that kind ends so, too, and
/// has the same effects.
struct NegativeResult {
  TryKey key = {};
  TryEffects effects = {};
  Verdict verdict = Verdict::no_nodes;
  Second valid_until = 0;
};

/// Where a cycle, or a try of a job, would only repeat the last one, the memory says so (RULES.md
/// 4.9, 4.10).  Not a rule of Slurm's: results are the same without it, only later.  A cycle tells
/// it what it does; the memory finds out until when the same would come out again.
class CycleMemory {
 public:
  /// `is_on`: false = it remembers nothing.  Requires that the others outlive the memory.
  CycleMemory(const Clocks& clocks, ControllerState& controller, Select& select, bool is_on);

  /// True when a cycle that begins at `time` would make the last plan again.  `test_count`: the
  /// jobs that the last cycle tested.
  bool is_plan_unchanged(double time, int test_count) const;
  /// The effects of a cycle that would make the last plan again.
  void reapply_last_cycle(Second now, bool has_planned_nodes);

  void forget_last_cycle() { last_cycle_ = {}; }
  /// A cycle makes a new plan, up to the end of its window; `recalls` = false: each job is tried.
  void begin_cycle(Second now, Second window_end, bool recalls);
  /// `can_differ_next_cycle`: the next cycle may make another plan although nothing changes, for
  /// example because this one has gone on after the second of its begin.  `marks_nodes`:
  /// PLANNED marks on allocated nodes counted as changes (24.11).
  void end_cycle(Second now, bool can_differ_next_cycle, bool marks_nodes);

  /// A job is tried; `is_first_try` = false: from a later time on, after the cycle yielded its
  /// locks in the middle of the job, so that the outcome is nobody else's.
  void begin_try(QueueEntry entry, Second now, bool is_first_try = true);
  /// The last try of the kind of the job, where this one would end like it; null: it may not.
  const NegativeResult* recall(const TryKey& key);
  /// The job was tested: for a begin at `from`, on nodes that are the same for each begin before
  /// `unchanged_until`, and can begin at `begin`.
  void observe_test(Second from, Second unchanged_until, Second begin);
  void observe_deferred_start() { last_cycle_.has_deferred_start = true; }
  /// The try is over; `begin` and `end` are those of its slot.
  void end_try(const TryKey& key, const TryEffects& effects, Verdict verdict, Second begin,
               Second end);

 private:
  // The last cycle and its plan.  A cycle that begins before `valid_until`, with nothing changed
  // since then, would make the same plan and is skipped.
  struct LastCycle {
    std::int64_t change_count = -1;
    Second valid_until = 0;
    bool has_deferred_start = false;
    bool marks_allocated_nodes = false;
    Weights weights_before = {};
    Weights weights_after = {};
  };

  std::int64_t change_count() const;
  // The outcome of the try holds for the second of the try alone.
  void expire_now() { valid_until_ = now_; }
  void limit_validity_to_plan(Second begin, Second end);

  const Clocks& clocks_;
  ControllerState& controller_;
  Select& select_;
  const Settings::Backfill settings_;
  const bool is_on_;
  const bool has_exempt_times_;  // PreemptExemptTime is set somewhere
  LastCycle last_cycle_;
  std::vector<NegativeResult> negative_results_;  // by kind of job

  // Of the cycle.
  bool recalls_ = false;
  Second window_end_ = 0;
  Second next_resolution_step_ = 0;

  // Of the try.  A try made at any second before `valid_until_`, with nothing else changed, has the
  // same outcome.
  QueueEntry entry_ = {};
  Second now_ = 0;
  Second valid_until_ = 0;
  NegativeResult* kind_result_ = nullptr;  // of the job's kind; null: nothing is remembered
};

}  // namespace cosched::slurm
