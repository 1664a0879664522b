// What every schedule of at most a makespan T looks like where transfers cost time: time_windows.hpp
// with heads and tails by type.
//
//   head_jq   no schedule of at most T starts task j on type q before;
//   tail_jq   at least this much time lies between the end of j on q and T;
//   (j, q)    is open unless head_jq + p_jq + tail_jq > T;
//   a way of an edge e = (i, j), (q, r) or far on r (type_costs.hpp), is open unless
//             head_iq + p_iq + its cost + p_jr + tail_jr > T.
//
// Paths: head_jr >= max over edges e = (i, j) of min over open ways to r of head_iq + p_iq + cost.
// Joins: let O_e be the earliest that i's data can come from another memory.  If j starts at t on a
// unit of type r, every predecessor with O_e > t has run in the memory of that unit.  Where this holds
// the units of one type only, c of them, they need max over h of (h + sum over those of heads >= h of
// p_ir / c) until then: head_jr >= min over k of max(that of the first k by falling O_e, the next O_e).
// Tails likewise, by successors.
//
// Three tasks where this is not obvious: a (4 s) and b (3 s) send data to c (2 s), 5 s from memory to
// memory, on two units of one type that have each its own.  Paths give c the head 4: whichever task sends
// it data could have run on its unit.  Both could not before 4 + 3 = 7; if one of them did not, its data
// comes at 4 + 5 = 9 or 3 + 5 = 8.  So the head is min(max(0, 9), max(4, 8), 4 + 3) = 7, which refutes
// every T < 9 (on one unit the makespan is 9), where paths alone refute T < 6.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/dags/model/type_costs.hpp"
#include "cosched/dags/proof/load_heads.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

/// A way of an edge (type_costs.hpp).
struct EdgeWay {
  int edge, way;
};

class TransferWindows : public OpenTypes {
 public:
  /// All pairs of finite time and all ways are open, heads and tails are 0.
  TransferWindows(const TypeCosts& costs, double makespan);

  const TypeCosts& costs() const { return *costs_; }
  double head(int task, int type) const { return head_[pair(task, type)]; }
  double tail(int task, int type) const { return tail_[pair(task, type)]; }
  bool way_open(int edge, int way) const { return way_[at(edge, way)]; }
  /// Least cost of an edge over its open ways between two types; infinite where there is none.
  double cost(int edge, int q, int r) const {
    if (way_open(edge, costs_->way(q, r))) return costs_->least(edge, q, r);
    return q == r && way_open(edge, costs_->far_way(r)) ? costs_->apart(edge, r, r) : kInfinity;
  }
  /// Heads, tails and pairs that do not fit, until no more close.  False: a task has no type left,
  /// so no schedule is as short as T.  `slack`: relative to T, what a pair must exceed T by.
  bool prune(double slack);

  /// Closes a pair; prune() before the next question.  False: it was closed.
  bool close(int task, int type);
  void close_way(EdgeWay of);
  /// Closes all others of a task, of an edge.
  void keep_only(int task, int type);
  void keep_only_way(EdgeWay of);

  /// Raises a head (tail).  True: by more than a relative 1e-9 of T.
  bool lift(int task, int type, double bound, bool backward);

  /// Load heads as in time_windows.hpp, the head of an ancestor being the least of its open types.
  bool raise(const std::vector<double>& weights, bool backward);

  /// Whether the ends of an edge must be in one memory, of units of one type.
  bool binds(int edge) const { return ways_apart_[edge] == 0; }
  /// Whether anything of a task has changed since settle().
  bool touched(int task) const { return touched_[task]; }
  void settle(int task) { touched_[task] = 0; }

  /// Steps of about a nanosecond that all this has taken.
  std::int64_t steps() const { return steps_; }
  /// Adds steps that others have taken.
  void count(std::int64_t steps) { steps_ += steps; }

 private:
  const std::vector<double>& side(bool backward) const { return backward ? tail_ : head_; }
  std::size_t at(int edge, int way) const {
    return static_cast<std::size_t>(edge) * costs_->ways() + way;
  }
  // Way (q, r) of an edge seen from the task at its end: `mine` of that task, `its` of the other.
  int between(int mine, int its, bool backward) const {
    return backward ? costs_->way(mine, its) : costs_->way(its, mine);
  }
  void relax(bool backward);
  void moved(int task, bool backward);
  double by_paths(int task, int type, bool backward);
  double by_join(int task, int type, double path, bool backward);
  bool close_pairs(double limit);
  void close_ways(double limit);
  double earliest(int task, bool backward) const;

  const TypeCosts* costs_;
  int types_;
  std::vector<double> head_, tail_;
  std::vector<char> way_;
  std::vector<int> ways_apart_;  // of each edge: open ways between memories or types
  bool changed_ = false;
  // What has to be looked at again: a task's heads, tails, open types; an edge's ways.
  std::vector<char> stale_head_, stale_tail_, stale_types_, stale_edge_, touched_;
  std::int64_t steps_ = 0;
  // What one predecessor (successor) lets through.
  struct Arrival {
    double apart;    // from another memory, the earliest
    double at_home;  // from the same: its head, and infinite where it cannot run there
    double work;     // and its time
  };
  std::vector<Arrival> arrivals_;
  std::vector<Load> at_home_;
  LoadHeads load_heads_;
};

}  // namespace cosched::dags::proof
