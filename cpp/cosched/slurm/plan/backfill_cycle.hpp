// The backfill cycle: every job in order of the queue gets a plan (RULES.md 4).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/plan/plan_map.hpp"
#include "cosched/slurm/state/tables.hpp"

namespace cosched::slurm {

class BackfillCycle {
 public:
  /// Requires that all outlive it.
  BackfillCycle(const Clocks& clocks, Tables& tables, Select& select);

  /// Starts and plans jobs; returns those that it started.  It may rest on its way, and others go
  /// on meanwhile.
  std::vector<int> run(double time);
  /// It rests; until when.
  bool rests() const { return resumes_ < kInfinity; }
  double resumes() const { return resumes_; }
  std::vector<int> resume();
  /// It rests, and has asked for the locks again: who asks later gets them when it rests again.
  bool waits(double time) const { return rests() && time > slice_->over + kRest; }
  /// Nodes of a job are clean: those that become so while it rests are left out until it ends.
  void cleaned(const NodeBits& nodes);
  /// Seconds that the last cycle took.
  double cost() const {
    if (slice_) return slice_->over - begun_;
    return clocks_.cycle_cost + kept_.tests * clocks_.test_cost + starts_ * clocks_.start_cost;
  }

 private:
  enum class Then { next, stop };
  enum class Tried { started, over_limit, no_nodes };
  /// `until`: no comparison of this test with the time comes out otherwise before that second.
  struct Tested {
    Then then;
    bool started;
    Second until;
  };

  // What the last cycle knows about its plan: a cycle before `until`, with nothing changed since,
  // would make the same plan, and is spared.
  struct Kept {
    std::int64_t changes = -1;
    Second until = 0;
    bool moved = false;  // it had to move a start behind what running jobs require
    int tests = 0;
    bool marked = false;            // it had plans, where each is a change of nodes
    Weights begun = {}, left = {};  // as it found and left them
  };

  // What decides a test beside the kind of its job.
  struct Circumstances {
    int part = -1;
    bool at_once = false;
    Second now = 0;
    std::int64_t piece = 0, map = 0, allocations = 0, weights = 0;
    bool operator==(const Circumstances& other) const {
      return part == other.part && at_once == other.at_once && now == other.now &&
             piece == other.piece && map == other.map && allocations == other.allocations &&
             weights == other.weights;
    }
  };
  // Of the last test of each kind that ended without a plan: in the same circumstances the next one
  // ends so, too, and leaves the same behind.
  struct Nothing {
    Circumstances at = {};
    bool counted = false, found = false, moved = false;
    int nodes = 0;  // that it could have had, but for a limit; 0: it found no time
    Second until = 0;
  };

  static constexpr double kRest = 0.5;  // bf_yield_sleep

  bool same_as_last(double time) const;
  void repeat_last();
  void clear_planned();
  void keep_planned(Second now);
  std::int64_t changes() const;
  Second now_after(int tests) const;
  double moment() const;
  void next_slice();
  bool cut_short();
  std::vector<int> plan_queue();

  Second next_try();
  int first_task() const;
  int array_at(std::size_t at) const;
  void restore();
  bool passed_over(Entry entry) const;
  bool rejected(Entry entry) const;
  bool skipped(Entry entry);
  bool found_nothing(const Nothing& last, const Circumstances& here, Entry entry);
  Tested test(Entry entry, Second now, Second later, bool probe = false);
  Tried start(Entry entry, const NodeBits& avail);
  std::optional<Select::Slot> will_run(Entry entry, const NodeBits& avail,
                                       const Select::Time& time);
  void preempt(Entry entry, const NodeBits& avail);
  Tested reserve(Entry entry, const Select::Slot& slot, Second first, Second last, Second until);
  void plan_next_task(int job);
  Second end_of(Second begin, Second limit) const;

  const Clocks& clocks_;
  Tables& tables_;
  Select& select_;
  const Settings::Backfill settings_;
  PlanMap map_;
  NodeBits planned_;  // nodes of plans that are idle: the PLANNED mark
  TestCounts counts_;
  Kept kept_;
  std::vector<Nothing> nothing_;  // by kind
  std::int64_t pieces_ = 0;       // of all cycles so far
  NodeBits left_,
      avail_;  // what reservations leave, and of that the nodes that have the job's features
  std::vector<int> planned_jobs_;  // of this cycle, where one reservation a job is the rule
  // Of the array that was tried last: where a task could not start, and how many have a plan.
  int rejected_array_ = -1, rejected_part_ = -1, planned_array_ = -1, array_plans_ = 0;
  // of this cycle; where what it did was recorded, its pieces, and where in the queue this one
  // began
  double begun_ = 0, time_ = 0, resumes_ = kInfinity;
  std::size_t cycle_ = 0, piece_ = 0, at_ = 0;   // cycles so far; its next slice; its next job
  std::vector<std::pair<Entry, double>> queue_;  // with priorities
  std::vector<int> started_;                     // since it began or went on
  NodeBits late_;                                // nodes that jobs left since it began
  const Slice* slice_ = nullptr;
  int looked_ = 0, looked_before_ = 0;
  Second tries_on_ = 0;  // it rested in the middle of a job: from when that is tried next
  int starts_ = 0;
  Second begin_ = 0, map_end_ = 0, next_slot_ = 0;
};

}  // namespace cosched::slurm
