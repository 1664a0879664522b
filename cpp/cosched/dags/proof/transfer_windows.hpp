// What every schedule of at most a makespan T looks like where transfers cost time:
// time_windows.hpp with heads and tails by type.
//
//   head_jq   no schedule of at most T starts task j on type q before;
//   tail_jq   at least this much time lies between the end of j on q and T;
//   (j, q)    is open unless head_jq + p_jq + tail_jq > T;
//   a way of an edge e = (i, j), (q, r) or far on r (type_costs.hpp), is open unless
//             head_iq + p_iq + its cost + p_jr + tail_jr > T.
//
// Paths: head_jr >= max over edges e = (i, j) of min over open ways to r of head_iq + p_iq + cost.
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
  /// What is left of a longer one: a schedule of at most T is one of at most that, too.
  TransferWindows(const TransferWindows& longer, double makespan);

  const TypeCosts& costs() const { return *costs_; }
  double head(int task, int type) const { return head_[pair(task, type)]; }
  double tail(int task, int type) const { return tail_[pair(task, type)]; }
  bool way_open(int edge, int way) const { return way_cost_[slot(edge, way)] < kInfinity; }
  /// Least cost of an edge over its open ways between two types; infinite where there is none.
  double cost(int edge, int q, int r) const {
    const double* cost = way_cost_.data() + slot(edge, 0, 0);
    const double apart = cost[q * types_ + r];
    return q == r ? std::min(apart, cost[types_ * types_ + r]) : apart;
  }
  /// Heads, tails and pairs that do not fit, until no more close.  False: a task has no type left,
  /// so no schedule is as short as T.  `slack`: relative to T, what a pair must exceed T by.
  bool prune(double slack);

  /// What head, time and tail of an open pair, or those of both ends of an open way and its cost,
  /// leave of T.
  double spare(int task, int type) const {
    return makespan() - head(task, type) - instance().time(task, type) - tail(task, type);
  }
  double spare(EdgeWay of) const;

  /// Closes a pair; prune() before the next question.  False: it was closed.
  bool close(int task, int type);
  void close_way(EdgeWay of);
  /// Closes all others of a task, of an edge.
  void keep_only(int task, int type);
  void keep_only_way(EdgeWay of);

  /// Takes note of what changes until undo(), which takes it back.  One at a time.
  void mark();
  void undo();

  /// Raises a head (tail).  True: by more than a relative 1e-9 of T.
  bool lift(int task, int type, double bound, bool backward);

  /// Load heads as in time_windows.hpp, the head of an ancestor being the least of its open types.
  bool raise(const std::vector<double>& weights, bool backward);

  /// Whether the ends of an edge must be in one memory, of units of one type.
  bool binds(int edge) const { return ways_apart_[edge] == 0; }
  /// Whether anything of a task has changed since settle().
  bool touched(int task) const { return stale_.touched[task]; }
  void settle(int task) { stale_.touched[task] = 0; }

  /// Steps of about a nanosecond that all this has taken.
  std::int64_t steps() const { return steps_; }
  /// Adds steps that others have taken.
  void count(std::int64_t steps) { steps_ += steps; }

 private:
  const std::vector<double>& side(bool backward) const { return backward ? tail_ : head_; }
  // Where the cost of a way is kept.  First a matrix (q, r) of ways between memories, whose
  // diagonal is that of far ways, then a row of those at home; where units share memories with
  // those of other types nothing is at home, and the diagonal is that of ways (r, r).
  std::size_t slot(int edge, int q, int r) const {
    return static_cast<std::size_t>(edge) * costs_->ways() + q * types_ + r;
  }
  std::size_t slot(int edge, int way) const {
    const int q = costs_->first_type(way), r = costs_->second_type(way);
    const bool last = q == r && (way == costs_->far_way(r)) != (costs_->together(r) > 0);
    return last ? slot(edge, types_, r) : slot(edge, q, r);
  }
  void look_at_all();
  bool relax(bool backward);
  bool relax(int task, bool backward);
  void list_open(int task, std::vector<int>& types) const;
  void look_back(int task, bool backward);
  void moved(int task, bool backward);
  double by_join(int type, double path, std::size_t edges);
  bool close_pairs();
  void close_ways();
  void close_ways_of(int edge, int type, bool second);
  void way_has_closed(int edge);
  bool fits(int task, int type) const {
    return head(task, type) + instance().time(task, type) + tail(task, type) <= limit_;
  }
  double earliest(int task, bool backward) const;
  // What undo() takes back, by the place where it changed.
  enum class Trail : char { head, tail, way_cost, open_type };
  std::vector<double>& numbers(Trail trail);
  void set(Trail trail, std::size_t at, double value);

  const TypeCosts* costs_;
  int types_;
  std::vector<double> head_, tail_;
  std::vector<double> way_cost_;  // infinite: closed
  std::vector<int> ways_apart_;   // of each edge: open ways between memories or types
  double limit_;                  // T and the slack
  bool changed_ = false;
  // What has to be looked at again: a task's heads, tails, open types; an edge's ways.
  struct Stale {
    std::vector<char> head, tail, types, edge, touched;
  };
  Stale stale_;
  std::int64_t steps_ = 0;
  // Since mark(), in the order of time.
  struct Change {
    Trail trail;
    std::size_t at;
    double old;  // not of an open type
  };
  std::vector<Change> changes_;
  std::vector<int> marked_ways_apart_;
  Stale marked_;
  bool marking_ = false;
  // What each predecessor (successor) of a task lets through, by type of the task.
  struct Arrival {
    double apart;    // from another memory, the earliest
    double at_home;  // from the same: its head, and infinite where it cannot run there
    double work;     // and its time
  };
  std::vector<Arrival> looked_back_;  // (edge, type)
  std::vector<Arrival> arrivals_;     // of one type, those that matter
  std::vector<double> ends_, path_;   // by type
  std::vector<int> own_types_, its_types_;
  std::vector<Load> at_home_;
  LoadHeads load_heads_;
};

}  // namespace cosched::dags::proof
