// The check of a proof::TransfersCertificate: heads, joins, clusters and combined rows are worked out here
// again, in the plainest way, without the solvers' code.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

class TransferChecker {
 public:
  TransferChecker(const Instance& instance, double makespan, bool clusters);
  /// Whether nothing is left after the stages.
  bool refutes(const std::vector<proof::TransferStage>& stages);

 private:
  struct Joint {
    int from, to, edge;
  };

  double time(int task, int type) const { return instance_.time(task, type); }
  char& joint(int edge, int q, int r) { return joint_[(edge * 1UL * types_ + q) * types_ + r]; }
  char& far(int edge, int type) { return far_[edge * 1UL * types_ + type]; }
  // Ends on two types, or on one in one memory; on one in two memories.
  bool near_allowed(const Joint& edge, int q, int r) {
    return joint(edge.edge, q, r) && open_[edge.from][q] && open_[edge.to][r];
  }
  bool far_allowed(const Joint& edge, int q, int r) {
    return q == r && far(edge.edge, r) && open_[edge.from][r] && open_[edge.to][r];
  }
  bool allowed(const Joint& edge, int q, int r) {
    return near_allowed(edge, q, r) || far_allowed(edge, q, r);
  }
  double near_cost(const Joint& edge, int q, int r) const {
    const Transfers& transfers = instance_.transfers();
    return transfers.given() ? transfers.type_cost(edge.edge, q, r) : 0;
  }
  double cost(const Joint& edge, int q, int r) {
    return near_allowed(edge, q, r) ? near_cost(edge, q, r)
                                    : instance_.transfers().remote(edge.edge, q, r);
  }
  // Each guess with which nothing is left.
  void close(const std::vector<proof::TransferGuess>& guesses);
  void close(bool of_edge, int item, int choice);
  // Units of each type that may share a memory, 0: with other types too.
  void count_homes();
  // Time until the units of a memory have done all these, of (head, time).
  static double done_at_home(std::vector<std::pair<double, double>> work, int units);
  // Of a predecessor (successor, if backward): earliest from another memory, (head, time) at home.
  using Elsewhere = std::pair<double, std::pair<double, double>>;
  struct Arrival {
    double least, apart;  // from anywhere, from another memory
    std::pair<double, double> home;
  };
  // What one edge lets through to a task on a type.
  Arrival arrive(const Joint& edge, int type, bool backward);
  // When all have arrived, if the best of them stay at home.
  static double least_join(std::vector<Elsewhere> far, int units);
  // Head of a task on a type (tail, if backward).
  double start(int task, int type, bool backward);
  void all_starts();
  // False: a task can run nowhere in time.
  bool prune();
  bool close_types(double limit, bool& changed);
  void close_ways(const Joint& edge, double limit, bool& changed);
  // reach_[i][j]: a path leads from i to j.
  void find_paths();
  // Tasks that must share a memory: what that closes, and the heads and tails it raises.  True: it
  // did so.
  bool bind_clusters();
  bool binding(const Joint& edge);
  bool bind(const std::vector<int>& cluster, int type);
  bool intervals_fit(const std::vector<int>& cluster, int type) const;
  bool lift(double& now, double bound) const {
    const bool rises = bound > now + 1e-10 * makespan_;
    now = std::max(now, bound);
    return rises;
  }
  bool pairs_fit(const std::vector<int>& cluster, int type, bool& changed);
  bool ordered(const std::vector<int>& cluster, int task, int type, bool backward);
  double earliest(const std::vector<double>& bound, int task) const {
    double least = kInfinity;
    for (int type = 0; type < types_; ++type)
      if (open_[task][type]) least = std::min(least, bound[type]);
    return least;
  }
  void raise(const std::vector<double>& weights);
  // Heads (tails) of a task by the loads of its ancestors.
  void raise(int task, const std::vector<double>& weights, std::vector<std::vector<double>>& bound,
             bool backward);
  // What a pair needs of the combined row, by its task alone.
  double need(const proof::TransferStage& stage, double flow, double begun, double ended, int task,
              int type) const;
  // What the loads and the intervals have room for, at their prices.
  double room(const proof::TransferStage& stage) const;
  struct Flow {
    double in, out, through;
  };
  // Flow into a task, out of it and through it.
  Flow flow_at(const proof::TransferStage& stage, int task) const;
  using Needs = std::vector<std::vector<double>>;  // of each task on each type
  // Pairs and ways that need more than the rest beyond the least.
  std::vector<proof::TransferGuess> broken(const proof::TransferStage& stage, const Needs& needs,
                                           const std::vector<double>& least, double rest);
  // True: the combined row cannot hold.  Otherwise closes the pairs with which it cannot.
  bool combine(const proof::TransferStage& stage);
  double shift(const proof::TransferStage& stage, const Joint& edge, int q) const {
    return stage.shift.empty() ? 0 : stage.shift[edge.edge * 1UL * types_ + q];
  }
  // What remains of the price of an edge at a cost after the share of its first task, on q.
  double remaining(const proof::TransferStage& stage, const Joint& edge, int q,
                   double cost_of) const {
    const double flow = stage.edge_flow.empty() ? 0 : stage.edge_flow[edge.edge];
    return flow * cost_of - shift(stage, edge, q);
  }
  // The second task's share.
  double second(const proof::TransferStage& stage, const Joint& edge, int r);
  double spare(const proof::TransferStage& stage, const Joint& edge, int q, int r, double cost_of) {
    return remaining(stage, edge, q, cost_of) - second(stage, edge, r);
  }
  void share(const proof::TransferStage& stage, const Joint& edge, Needs& needs);

  const Instance& instance_;
  int types_;
  double makespan_;
  std::vector<std::vector<double>> head_, tail_;
  std::vector<std::vector<char>> open_;
  std::vector<Joint> edges_;
  std::vector<char> joint_, far_;
  std::vector<std::vector<Joint>> before_, after_;
  std::vector<std::vector<char>> reach_;  // empty: clusters are not looked at
  std::vector<int> home_;                 // empty: no transfers
  std::vector<char> several_;
};

}  // namespace cosched::dags::check
