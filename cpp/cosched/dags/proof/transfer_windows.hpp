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
// Clusters, if asked for: tasks that edges join of which only ways within one memory are open run in
// one memory, on units of one type.  On each type, sets of them between a head and a latest end have
// to fit on the c units; head_jr >= max over h of (h + sum over ancestors of j in the cluster of heads
// >= h of p_ir / c); and on one unit, of two that fit in one order only, the second waits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/dags/model/type_costs.hpp"

namespace cosched::dags::proof {

class TransferWindows {
 public:
  /// All pairs of finite time are open, heads and tails are 0.
  TransferWindows(const TypeCosts& costs, double makespan, bool clusters = false);

  const TypeCosts& costs() const { return *costs_; }
  const Instance& instance() const { return costs_->instance(); }
  double makespan() const { return makespan_; }
  double head(int task, int type) const { return head_[pair(task, type)]; }
  double tail(int task, int type) const { return tail_[pair(task, type)]; }
  bool open(int task, int type) const { return open_[pair(task, type)]; }
  bool way_open(int edge, int way) const { return way_[at(edge, way)]; }
  /// Least cost of an edge over its open ways between two types; infinite where there is none.
  double cost(int edge, int q, int r) const {
    if (way_open(edge, costs_->way(q, r))) return costs_->least(edge, q, r);
    return q == r && way_open(edge, costs_->far_way(r)) ? costs_->apart(edge, r, r) : kInfinity;
  }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Tasks with more than one open type.
  int undecided() const { return undecided_; }

  /// Heads, tails and pairs that do not fit, until no more close.  False: a task has no type left,
  /// so no schedule is as short as T.  `slack`: relative to T, what a pair must exceed T by.
  bool prune(double slack);

  /// Closes a pair; prune() before the next question.
  void close(int task, int type);
  void close_way(int edge, int way) { way_[at(edge, way)] = 0; }
  /// Closes all others of a task, of an edge.
  void keep_only(int task, int type);
  void keep_only_way(int edge, int way);

  /// Load heads as in time_windows.hpp, the head of an ancestor being the least of its open types.
  bool raise(const std::vector<double>& weights, bool backward);

  /// Steps of about a nanosecond that all this has taken.
  std::int64_t steps() const { return steps_; }
  /// Adds steps that others have taken.
  void count(std::int64_t steps) { steps_ += steps; }

 private:
  std::size_t pair(int task, int type) const {
    return static_cast<std::size_t>(task) * types_ + type;
  }
  const std::vector<double>& side(bool backward) const { return backward ? tail_ : head_; }
  std::size_t at(int edge, int way) const {
    return static_cast<std::size_t>(edge) * costs_->ways() + way;
  }
  // Way (q, r) of an edge seen from the task at its end: `mine` of that task, `its` of the other.
  int between(int mine, int its, bool backward) const {
    return backward ? costs_->way(mine, its) : costs_->way(its, mine);
  }
  void refresh(int task);
  bool relax(bool backward);
  double by_paths(int task, int type, bool backward);
  double by_join(int task, int type, double path, bool backward);
  bool close_pairs(double limit);
  void close_ways(double limit);
  bool binding(int edge) const;
  void bind_clusters(double slack);
  void bind(const std::vector<int>& cluster, double slack);
  bool fits_on(const std::vector<int>& cluster, int type, double slack);
  void order_on(const std::vector<int>& cluster, int type, bool backward);
  bool order_pairs(const std::vector<int>& cluster, int type, double slack);
  void lift(int task, int type, double bound, bool backward);
  double earliest(int task, bool backward) const;
  double raised(int task, const std::vector<double>& work, const std::vector<double>& first,
                bool backward);

  const TypeCosts* costs_;
  int types_;
  double makespan_;
  std::vector<double> head_, tail_;
  std::vector<char> open_, way_;
  std::vector<int> only_type_;
  int undecided_ = 0;
  bool clusters_;
  bool changed_ = false;
  std::int64_t steps_ = 0;
  struct Arrival {
    double apart, at_home, work;  // from another memory; from the same: head and work there
  };
  std::vector<Arrival> arrivals_;
  std::vector<int> seen_, stack_;
  std::vector<std::pair<double, double>> ancestors_;  // (head, work)
  int stamp_ = 0;
};

}  // namespace cosched::dags::proof
