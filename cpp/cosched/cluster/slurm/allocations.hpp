// Who has which nodes: running jobs, those that are completing, and what is left (RULES.md 6).
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/slurm/scenario.hpp"

namespace cosched::cluster::slurm {

class Allocations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Allocations(const Scenario& scenario);

  /// Takes the nodes; where jobs share nodes, all cores that are free on its nodes in order, until it has
  /// enough.
  void start(int job, const NodeBits& nodes, Second now);
  /// The job is completing: its nodes are free for plans, but not for starts.
  void end(int job, Second now);
  /// Its last node has sent its epilog message.
  void clean(int job);

  const NodeBits& up() const { return up_; }
  const NodeBits& busy() const { return busy_; }  // whole: without a free core
  const NodeBits& cleaning() const { return cleaning_; }
  const std::vector<int>& free_cores() const { return free_cores_; }  // where jobs share nodes
  /// By (due, job).
  const std::vector<int>& running() const { return running_; }

  /// Of a job that has started.
  const NodeBits& nodes(int job) const { return of(job).nodes; }
  const std::vector<int>& cores(int job) const { return of(job).cores; }  // of each of its nodes
  Second due(int job) const { return of(job).due; }
  bool started(int job) const { return of(job).state != State::pending; }
  bool ended(int job) const { return of(job).state == State::ended; }
  /// A job that ended at `since` or later is completing.
  bool completing_since(Second since) const;
  /// Grows at each start, end and epilog.
  std::int64_t changes() const { return changes_; }

 private:
  enum class State : char { pending, running, ended };
  struct Held {
    NodeBits nodes;
    std::vector<int> cores;
    Second due = 0;  // start + limit
    Second end = 0;
    State state = State::pending;
  };
  Held& of(int job) { return held_[static_cast<std::size_t>(job)]; }
  const Held& of(int job) const { return held_[static_cast<std::size_t>(job)]; }
  void take_cores(int job);
  void give_cores(int job);

  const Scenario& scenario_;
  std::vector<Held> held_;
  std::vector<int> running_, completing_;
  NodeBits up_, busy_, cleaning_;
  std::vector<int> free_cores_;
  std::int64_t changes_ = 0;
};

}  // namespace cosched::cluster::slurm
