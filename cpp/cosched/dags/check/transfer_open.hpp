// What is open at a makespan T where transfers cost time, as the check of a TransfersCertificate sees it:
// heads, tails, joins and load heads, worked out in the plainest way, without the solvers' code.
#pragma once

#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// What cannot begin before `head` and then takes `time` of one unit.
struct Work {
  double head, time;
};
/// Time until so many units that share a memory have done all of it, at the earliest.
double all_done(std::vector<Work> work, int units);

class TransferOpen {
 public:
  TransferOpen(const Instance& instance, double makespan);

  struct Joint {
    int from, to, edge;
  };
  const std::vector<Joint>& edges() const { return edges_; }
  const std::vector<Joint>& before(int task) const { return before_[task]; }
  const std::vector<Joint>& after(int task) const { return after_[task]; }

  const Instance& instance() const { return instance_; }
  int types() const { return types_; }
  double makespan() const { return makespan_; }
  /// T and the slack of a proof.
  double limit() const { return makespan_ * (1 + proof::kProofSlack); }
  double time(int task, int type) const { return instance_.time(task, type); }
  double head(int task, int type) const { return head_[task][type]; }
  double tail(int task, int type) const { return tail_[task][type]; }
  bool open(int task, int type) const { return open_[task][type]; }
  /// Units of the type that may share a memory; 0: with other types too, or there are no transfers.
  int home(int type) const { return home_.empty() ? 0 : home_[type]; }

  /// Whether a way is open, whatever the types of its ends: in one memory or on two types; in two
  /// memories of one type.
  bool joint(int edge, int q, int r) const {
    return joint_[(edge * 1UL * types_ + q) * types_ + r];
  }
  bool far(int edge, int type) const { return far_[edge * 1UL * types_ + type]; }
  /// Whether it is, and the types of its ends too.
  bool near_allowed(const Joint& edge, int q, int r) const {
    return joint(edge.edge, q, r) && open_[edge.from][q] && open_[edge.to][r];
  }
  bool far_allowed(const Joint& edge, int q, int r) const {
    return q == r && far(edge.edge, r) && open_[edge.from][r] && open_[edge.to][r];
  }
  bool allowed(const Joint& edge, int q, int r) const {
    return near_allowed(edge, q, r) || far_allowed(edge, q, r);
  }
  double near_cost(const Joint& edge, int q, int r) const {
    const Transfers& transfers = instance_.transfers();
    return transfers.given() ? transfers.type_cost(edge.edge, q, r) : 0;
  }
  double far_cost(const Joint& edge, int q, int r) const {
    return instance_.transfers().remote(edge.edge, q, r);
  }
  /// The least over ways that are allowed.
  double cost(const Joint& edge, int q, int r) const {
    return near_allowed(edge, q, r) ? near_cost(edge, q, r) : far_cost(edge, q, r);
  }

  /// Closes a type of a task, or a way of an edge.
  void close(const proof::TransferGuess& what);
  /// Closes all others of its task or edge.
  void keep_only(const proof::TransferGuess& what);
  /// Raises a head (tail).  True: it rises.
  bool lift(int task, int type, double bound, bool backward);

  /// Heads, tails and what does not fit, until nothing changes.  False: a task can run nowhere in time.
  bool prune();
  /// Heads and tails of all tasks by the loads of their ancestors and descendants.
  void raise(const std::vector<double>& weights);

 private:
  // What one predecessor (successor, if backward) lets through to a task on a type.
  struct Arrival {
    double least;  // from anywhere
    double apart;  // from another memory
    Work home;     // in the same
  };
  void count_homes();
  Arrival arrive(const Joint& edge, int type, bool backward) const;
  static double least_join(std::vector<Arrival> arrivals, int units);
  double start(int task, int type, bool backward) const;
  void all_starts();
  bool close_types(bool& changed);
  bool close_ways(const Joint& edge);
  double earliest(int task, bool backward) const;
  // Of each task over its open types; the work is that of a load.
  struct Least {
    std::vector<double> time, work, head;
  };
  double raised(int task, const Least& least, bool backward) const;

  const Instance& instance_;
  int types_;
  double makespan_;
  std::vector<std::vector<double>> head_, tail_;
  std::vector<std::vector<char>> open_;
  std::vector<Joint> edges_;
  std::vector<char> joint_, far_;
  std::vector<std::vector<Joint>> before_, after_;
  std::vector<int> home_;  // empty: no transfers
  std::vector<char> several_;
};

}  // namespace cosched::dags::check
