// What is open at a makespan T where transfers cost time, as the check of a TransfersCertificate
// sees it: heads, tails, joins and load heads, worked out in the plainest placement, without the
// solvers' code.
#pragma once

#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/check/head_work.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// An edge with its number, by (predecessor, successor).
struct NumberedEdge {
  int from, to, edge;
};

/// Heads, tails, open types and open placements at a makespan T.
class TransferOpen {
 public:
  TransferOpen(const Instance& instance, double makespan);

  const std::vector<NumberedEdge>& edges() const { return edges_; }
  const std::vector<NumberedEdge>& before(int task) const { return before_[task]; }
  const std::vector<NumberedEdge>& after(int task) const { return after_[task]; }

  const Instance& instance() const { return instance_; }
  int types() const { return types_; }
  double makespan() const { return makespan_; }
  /// T and the slack of a proof.
  double limit() const { return makespan_ * (1 + proof::kProofSlack); }
  double time(int task, int type) const { return instance_.time(task, type); }
  double head(int task, int type) const { return head_[task][type]; }
  double tail(int task, int type) const { return tail_[task][type]; }
  bool is_open(int task, int type) const { return is_open_[task][type]; }
  /// Units of the type that may share a memory; 0: with other types too, or there are no transfers.
  int units_per_memory(int type) const {
    return units_per_memory_.empty() ? 0 : units_per_memory_[type];
  }

  /// Whether a placement is open, whatever the types of its ends: in one memory or on two types; in
  /// two memories of one type.
  bool is_placement_open(int edge, int q, int r) const {
    return placement_open_[(edge * 1UL * types_ + q) * types_ + r];
  }
  bool is_cross_memory_open(int edge, int type) const {
    return cross_memory_open_[edge * 1UL * types_ + type];
  }
  /// Whether it is, and the types of its ends too.
  bool can_be_near(const NumberedEdge& edge, int q, int r) const {
    return is_placement_open(edge.edge, q, r) && is_open_[edge.from][q] && is_open_[edge.to][r];
  }
  bool can_be_far(const NumberedEdge& edge, int q, int r) const;
  bool can_be(const NumberedEdge& edge, int q, int r) const {
    return can_be_near(edge, q, r) || can_be_far(edge, q, r);
  }
  double near_cost(const NumberedEdge& edge, int q, int r) const;
  double far_cost(const NumberedEdge& edge, int q, int r) const {
    return instance_.transfers().cost_between_memories(edge.edge, q, r);
  }
  /// The least over placements that are allowed.
  double cost(const NumberedEdge& edge, int q, int r) const {
    return can_be_near(edge, q, r) ? near_cost(edge, q, r) : far_cost(edge, q, r);
  }

  /// Closes a type of a task, or a placement of an edge.
  void close(const proof::TransferGuess& closed_choice);

  /// Closes all others of its task or edge.
  void keep_only(const proof::TransferGuess& kept_choice);

  /// Raises a head (tail).  True: it rises.
  bool tighten(int task, int type, double bound, bool backward);

  /// Heads, tails and what does not fit, until nothing changes.  False: a task can run nowhere in
  /// time.
  bool prune();

  /// Heads and tails of all tasks by the loads of their ancestors and descendants.
  void tighten_by_load(const std::vector<double>& weights);

 private:
  // What one predecessor (successor, if backward) lets through to a task on a type.
  struct JoinArrival {
    double anywhere;       // from anywhere
    double cross_memory;   // from another memory
    HeadWork same_memory;  // in the same
  };

  void count_units_per_memory();
  JoinArrival arrival_over(const NumberedEdge& edge, int type, bool backward) const;
  static double least_join(std::vector<JoinArrival> arrivals, int units);
  double bound_by_paths(int task, int type, bool backward) const;
  void propagate_bounds();
  bool close_unfit_types(bool& needs_another_round);
  bool close_unfit_placements(const NumberedEdge& edge);
  double earliest(int task, bool backward) const;

  // Of each task over its open types; the work is that of a load.
  struct LeastOfTypes {
    std::vector<double> time, work, head;
  };

  double bound_by_load(int task, const LeastOfTypes& least, bool backward) const;

  const Instance& instance_;
  int types_;
  double makespan_;
  std::vector<std::vector<double>> head_, tail_;
  std::vector<std::vector<char>> is_open_;
  std::vector<NumberedEdge> edges_;
  std::vector<char> placement_open_, cross_memory_open_;
  std::vector<std::vector<NumberedEdge>> before_, after_;
  std::vector<int> units_per_memory_;  // empty: no transfers
  std::vector<char> has_several_memories_;
};

}  // namespace cosched::dags::check
