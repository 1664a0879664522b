// Who has which nodes: running jobs, those that are completing, and what is left (RULES.md 6).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cosched/slurm/select/core_map.hpp"
#include "cosched/slurm/select/resources.hpp"

namespace cosched::slurm {

class Allocations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Allocations(const Scenario& scenario);

  void start(int job, const Choice& choice, Second now);
  /// The job is completing: its nodes are free for plans, but not for starts.
  void end(int job, Second now);
  /// A running job is out of the way, and there again.
  void lift(int job);
  void put_back(int job);
  /// Its last node has sent its epilog message.
  void clean(int job);
  /// It stops, and goes on: what it has run counts for its limit (RULES.md 16.5).
  void suspend(int job, Second now);
  void resume(int job, Second now);
  /// It was requeued: it has not started.
  void forget(int job) { of(job).state = State::pending; }
  /// Nodes that jobs may start on.
  void set_up(const NodeBits& nodes, bool up);

  const NodeBits& up() const { return up_; }
  const NodeBits& busy() const { return busy_; }  // whole: without a free core
  const NodeBits& cleaning() const { return cleaning_; }
  const Free& free() const { return free_; }  // where jobs share nodes
  const CoreMap& cores() const { return cores_; }
  /// It was submitted: it has its place on slurmctld's list of jobs.
  void enter(int job);
  /// By (due, place on that list).
  const std::vector<int>& running() const { return running_; }

  /// Of a job that has started.
  const NodeBits& nodes(int job) const { return of(job).nodes; }
  const Shares& shares(int job) const { return of(job).shares; }
  Second due(int job) const { return of(job).due; }
  Second since(int job) const { return of(job).since; }
  const NodeBits& cores(int job) const { return of(job).cores; }  // where jobs are suspended
  int part(int job) const { return of(job).part; }
  bool suspended(int job) const { return of(job).suspended; }
  bool started(int job) const { return of(job).state != State::pending; }
  bool running(int job) const { return of(job).state == State::running; }
  bool ended(int job) const { return of(job).state >= State::completing; }
  bool cleaned(int job) const { return of(job).state == State::done; }
  /// A job that ended at `since` or later is completing.
  bool completing_since(Second since) const;
  /// Grows at each start, end and epilog.
  std::int64_t changes() const { return changes_; }
  /// Grows also when jobs are lifted and put back.
  std::int64_t version() const { return changes_ + lifts_; }

 private:
  enum class State : char { pending, running, completing, done };
  struct Held {
    NodeBits nodes;
    Shares shares;
    NodeBits cores = NodeBits();
    int part = 0;
    Second since = 0, due = 0;  // start, start + limit
    std::int64_t place = 0;
    Second end = 0;
    State state = State::pending;
    bool suspended = false;
    Second turned = 0, ran = 0;  // since when it runs or stands, and what it had run before
  };
  Held& of(int job) { return held_[static_cast<std::size_t>(job)]; }
  const Held& of(int job) const { return held_[static_cast<std::size_t>(job)]; }
  void mark_busy(const Held& held);
  void enlist(int job);
  void count_cores(const Held& held);
  void take(int job);
  void give(int job);

  const Scenario& scenario_;
  std::vector<Held> held_;
  std::vector<int> running_, completing_;
  NodeBits up_, busy_, cleaning_;
  Free free_;
  CoreMap cores_;
  std::int64_t changes_ = 0, lifts_ = 0, places_ = 0;
  std::map<int, std::int64_t> rests_;  // of arrays: where the tasks are that wait
};

}  // namespace cosched::slurm
