// What every schedule of at most a makespan T looks like where transfers cost time: time_windows.hpp
// with heads and tails by type.
//
//   head_jq   no schedule of at most T starts task j on type q before;
//   tail_jq   at least this much time lies between the end of j on q and T;
//   (j, q)    is open unless head_jq + p_jq + tail_jq > T;
//   (e, q, r) is open for an edge e = (i, j) unless head_iq + p_iq + c_e[q][r] + p_jr + tail_jr > T.
//
// Paths: head_jr >= max over edges e = (i, j) of min over open (e, q, r) of head_iq + p_iq + c_e[q][r].
// Joins: let O_e be the earliest that i's data can come from another memory.  If j starts at t on a
// unit of type r, every predecessor with O_e > t has run in the memory of that unit.  Where this holds
// the units of one type only, c of them, they need max over h of (h + sum over those of heads >= h of
// p_ir / c) until then: head_jr >= min over k of max(that of the first k by falling O_e, the next O_e).
// Tails likewise, by successors.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/dags/type_costs.hpp"

namespace cosched::dags {

class TransferWindows {
 public:
  /// All pairs of finite time are open, heads and tails are 0.
  TransferWindows(const TypeCosts& costs, double makespan);

  const TypeCosts& costs() const { return *costs_; }
  const Instance& instance() const { return costs_->instance(); }
  double makespan() const { return makespan_; }
  double head(int task, int type) const { return head_[pair(task, type)]; }
  double tail(int task, int type) const { return tail_[pair(task, type)]; }
  bool open(int task, int type) const { return open_[pair(task, type)]; }
  bool joint(int edge, int q, int r) const { return joint_[costs_->index(edge, q, r)]; }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Tasks with more than one open type.
  int undecided() const { return undecided_; }

  /// Heads, tails and pairs that do not fit, until no more close.  False: a task has no type left,
  /// so no schedule is as short as T.  `slack`: relative to T, what a pair must exceed T by.
  bool prune(double slack);

  /// Closes a pair; prune() before the next question.
  void close(int task, int type);
  void close(int edge, int q, int r) { joint_[costs_->index(edge, q, r)] = 0; }

  /// Load heads as in time_windows.hpp, the head of an ancestor being the least of its open types.
  bool raise(const std::vector<double>& weights, bool backward);

  /// Steps of about a nanosecond that all this has taken.
  std::int64_t steps() const { return steps_; }

 private:
  std::size_t pair(int task, int type) const {
    return static_cast<std::size_t>(task) * types_ + type;
  }
  const std::vector<double>& side(bool backward) const { return backward ? tail_ : head_; }
  // Pair (q, r) of an edge seen from the task at its end: `mine` of that task, `its` of the other.
  std::size_t between(int edge, int mine, int its, bool backward) const {
    return backward ? costs_->index(edge, mine, its) : costs_->index(edge, its, mine);
  }
  void refresh(int task);
  bool relax(bool backward);
  double by_paths(int task, int type, bool backward);
  double by_join(int task, int type, double path, bool backward);
  bool close_pairs(double limit);
  void close_joints(double limit);
  double earliest(int task, bool backward) const;
  double raised(int task, const std::vector<double>& work, const std::vector<double>& first,
                bool backward);

  const TypeCosts* costs_;
  int types_;
  double makespan_;
  std::vector<double> head_, tail_;
  std::vector<char> open_, joint_;
  std::vector<int> only_type_;
  int undecided_ = 0;
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

}  // namespace cosched::dags
