// What every schedule of at most a makespan T looks like where transfers cost time:
// time_windows.hpp with heads and tails by type.
//
//   head_jq   no schedule of at most T starts task j on type q before;
//   tail_jq   at least this much time lies between the end of j on q and T;
//   (j, q)    is open unless head_jq + p_jq + tail_jq > T;
//   a placement of the ends of an edge e = (i, j), on types (q, r) or in different memories on r
//             (type_costs.hpp), is open unless head_iq + p_iq + its cost + p_jr + tail_jr > T.
//
// Paths: head_jr >= max over edges e = (i, j) of
//          min over open placements of e with j on r of head_iq + p_iq + cost.
// Joins: let O_e be the earliest that i's data can come from another memory.  If j starts at t on a
// unit of type r, every predecessor with O_e > t has run in the memory of that unit.  Where this
// holds the units of one type only, c of them, they need max over h of (h + sum over those of heads
// >= h of p_ir / c) until then: head_jr >= min over k of max(that of the first k by falling O_e,
// the next O_e). Tails likewise, by successors.
//
// Three tasks where this is not obvious: a (4 s) and b (3 s) send data to c (2 s), 5 s from memory
// to memory, on two units of one type that have each its own.  Paths give c the head 4: whichever
// task sends it data could have run on its unit.  Both could not before 4 + 3 = 7; if one of them
// did not, its data comes at 4 + 5 = 9 or 3 + 5 = 8.  So the head is min(max(0, 9), max(4, 8), 4 +
// 3) = 7, which refutes every T < 9 (on one unit the makespan is 9), where paths alone refute T <
// 6.
#pragma once

#include "cosched/dags/model/type_costs.hpp"
#include "cosched/dags/proof/load_heads.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

/// Where the two ends of an edge run: a number of TypeCosts::placement().
struct EdgePlacement {
  int edge, placement;
};

/// Heads, tails, open types and open placements at a guess T.  Functions with a parameter
/// `backward` treat heads where it is false and tails, along reversed edges, where it is true.
class TransferWindows : public OpenTypes {
 public:
  /// Every type that can run a task and every placement is open, heads and tails are 0.
  TransferWindows(const TypeCosts& costs, double makespan);
  /// Continues from the windows of a longer makespan: what is closed there is closed here, because
  /// every schedule of at most `makespan` is one of at most the longer makespan.
  TransferWindows(const TransferWindows& longer, double makespan);

  const TypeCosts& costs() const { return *costs_; }
  double head(int task, int type) const { return head_[pair_index(task, type)]; }
  double tail(int task, int type) const { return tail_[pair_index(task, type)]; }
  bool is_placement_open(int edge, int placement) const {
    return placement_cost_[cost_index(edge, placement)] < kInfinity;
  }
  /// Least cost of an edge over its open placements with its first task on type q and its second on
  /// type r; infinite where all are closed.
  double least_open_cost(int edge, int q, int r) const {
    const double* cost = placement_cost_.data() + cost_index(edge, 0, 0);
    const double cross_memory = cost[q * types_ + r];
    return q == r ? std::min(cross_memory, cost[types_ * types_ + r]) : cross_memory;
  }
  /// Tightens heads and tails by paths and joins, and closes types and placements that no longer
  /// fit, until nothing changes.  Returns false where a task has no open type left: then no
  /// schedule is as short as T.  A type is closed where it exceeds T by more than the share
  /// `tolerance` of T.
  bool prune(double tolerance);

  /// Slack in seconds: T less head, time and tail of a task on an open type.
  double slack(int task, int type) const {
    return makespan() - head(task, type) - instance().time(task, type) - tail(task, type);
  }
  /// The same of an open placement: T less head and time of the first end, the cost of the edge,
  /// and time and tail of the second end.
  double slack(EdgePlacement target) const;

  /// Closes a type of a task; returns false where it was closed before.  Heads, tails and other
  /// types follow at the next prune().
  bool close_type(int task, int type);
  /// Closes a placement that is open; otherwise nothing happens.
  void close_placement(EdgePlacement target);
  /// Closes all other types of a task, all other placements of an edge.
  void keep_only_type(int task, int type);
  void keep_only_placement(EdgePlacement target);

  /// Records every change from now on, until restore_checkpoint() takes them back.  There is one
  /// checkpoint at a time.
  void set_checkpoint();
  void restore_checkpoint();

  /// Raises a head (tail) to `bound` where that is more.  Returns true where it rises by more than
  /// kLeastRise T, which is worth another round of prune().
  bool tighten(int task, int type, double bound, bool backward);

  /// Raises the heads (tails) of all tasks to their load heads (load_heads.hpp), with the least
  /// head over its open types as the head of an ancestor.  Returns true where an open type has
  /// risen by more than kLeastRise T.
  bool tighten_by_load(const std::vector<double>& weights, bool backward);

  /// Whether the ends of an edge must be in one memory, of units of one type.
  bool forces_same_memory(int edge) const { return open_cross_placements_[edge] == 0; }
  /// Whether heads, tails, types or placements of a task have changed since clear_changed().
  bool has_changed(int task) const { return stale_flags_.changed[task]; }
  void clear_changed(int task) { stale_flags_.changed[task] = 0; }

  /// Work so far, in steps of about a nanosecond.
  std::int64_t steps() const { return steps_; }
  /// Adds the steps of code that works on these windows from outside.
  void add_steps(std::int64_t steps) { steps_ += steps; }

 private:
  // Less of a rise, relative to T, is not worth another round.
  static constexpr double kLeastRise = kExactTolerance;

  const std::vector<double>& bounds(bool backward) const { return backward ? tail_ : head_; }
  // Index of the cost of a placement.  An edge has a matrix (q, r) of the placements in different
  // memories, with the cross-memory placements of one type on its diagonal, and then a row with the
  // same-memory placement of each type.  A type whose units share memories with other types has no
  // same-memory placement: then the diagonal holds its placement (r, r).
  std::size_t cost_index(int edge, int q, int r) const {
    return static_cast<std::size_t>(edge) * costs_->placements() + q * types_ + r;
  }
  std::size_t cost_index(int edge, int placement) const {
    const int q = costs_->first_type(placement), r = costs_->second_type(placement);
    const bool is_last_row = q == r && (placement == costs_->cross_memory_placement(r)) !=
                                           (costs_->units_per_memory(r) > 0);
    return is_last_row ? cost_index(edge, types_, r) : cost_index(edge, q, r);
  }
  void mark_all_stale();
  bool tighten_by_paths(bool backward);
  bool tighten_by_paths(int task, bool backward);
  void list_open_types(int task, std::vector<int>& types) const;
  void propagate_paths(int task, bool backward);
  void mark_stale_neighbours(int task, bool backward);
  double join_head(int type, double path, std::size_t edges);
  bool close_unfit_types();
  void close_unfit_placements();
  void close_placements_of(int edge, int type, bool is_second);
  void mark_stale_ends(int edge);
  bool can_fit(int task, int type) const {
    return head(task, type) + instance().time(task, type) + tail(task, type) <= limit_;
  }
  double earliest_bound(int task, bool backward) const;
  // The kinds of values that restore_checkpoint() takes back.
  enum class BoundKind : char { head, tail, placement_cost, open_type };
  std::vector<double>& values(BoundKind kind);
  void set_value(BoundKind kind, std::size_t index, double value);

  const TypeCosts* costs_;
  int types_;
  std::vector<double> head_, tail_;
  std::vector<double> placement_cost_;  // infinite where the placement is closed
  std::vector<int>
      open_cross_placements_;  // of each edge: open placements that are not in one memory
  double limit_;               // T (1 + tolerance of the last prune())
  bool needs_another_round_ = false;
  // What the next round has to compute again: heads, tails and types by task, placements by edge.
  // `changed` tells code outside which tasks have changed, until clear_changed().
  struct StaleFlags {
    std::vector<char> head, tail, types, edge, changed;
  };
  StaleFlags stale_flags_;
  std::int64_t steps_ = 0;
  // A value that has changed since set_checkpoint(); the trail is in the order of time.
  struct TrailEntry {
    BoundKind kind;
    std::size_t index;
    double old_value;  // unused for an open type, which only ever closes
  };
  std::vector<TrailEntry> trail_;
  std::vector<int> checkpoint_cross_placements_;
  StaleFlags checkpoint_flags_;
  bool is_recording_ = false;
  // When a task on a type can start as far as one predecessor (successor) is concerned.
  struct PredecessorBound {
    double cross_memory;  // where the predecessor runs in another memory
    double same_memory;  // the predecessor's head in the same memory; infinite: it cannot run there
    double work;         // the predecessor's time in the same memory
  };
  std::vector<PredecessorBound> path_bounds_;  // of the task at work, by (edge, type)
  std::vector<PredecessorBound>
      join_bounds_;  // of one type of the task at work, those that can raise its head
  std::vector<double> neighbour_end_;  // by type: end of the neighbour on the edge at work
  std::vector<double> path_head_;      // by type: of the task at work
  std::vector<double> time_to_end_;    // by type: time and tail of the second task of an edge
  std::vector<int> task_types_, neighbour_types_;
  std::vector<AncestorLoad> same_memory_loads_;
  LoadHeads load_heads_;
};

}  // namespace cosched::dags::proof
