// The state that a policy sees and changes: jobs in the system, nodes, virtual times.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/dfrs/idle_queue.hpp"
#include "cosched/cluster/dfrs/node_list.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::dfrs {

enum class JobStatus : char { unsubmitted, waiting, running, paused, finished };

/// Jobs are named by rank (position in order of submission).  A job that is waiting or paused
/// occupies nothing; a running job occupies memory on `nodes` (one entry for each task, increasing)
/// and the CPU share yield * cpu there.  Times in seconds.
///
/// A policy gets a DfrsMachine; the simulator drives it as a SimulatedMachine.
class DfrsMachine {
 public:
  struct alignas(64) Job {  // two cache lines; the first has what each event looks at
    double submit;
    double runtime;
    double cpu;
    double virtual_time = 0;   // integral of the yield, at now()
    double yield = 0;          // current share; not progress during a penalty
    double penalty_until = 0;  // no progress before this time
    double memory;
    int tasks;
    JobStatus status = JobStatus::unsubmitted;
    std::int64_t memory_need = 0;  // of a task, in units
    std::int64_t cpu_need = 0;     // of a task, in units
    NodeList nodes;
    int change_index = -1;  // among the changes of this event; -1: no change
  };

  struct NodeAccount {
    std::int64_t memory_used = 0;
    std::int64_t cpu_load = 0;  // sum of needs, may exceed kCpuUnit
  };

  /// What a policy did to a job during an event: the job's state before, and the last reason given.
  struct Change {
    int rank;
    JobStatus previous_status;
    NodeList previous_nodes;  // empty unless the job was running
    Reason reason;
    int other_rank;
    double value;
  };

  explicit DfrsMachine(const Instance& instance);

  double now() const { return now_; }
  int node_count() const { return static_cast<int>(nodes_.size()); }
  const std::vector<NodeAccount>& nodes() const { return nodes_; }
  int job_count() const { return static_cast<int>(jobs_.size()); }
  const Job& job(int rank) const { return jobs_[rank]; }
  /// Announces that the job will be looked at and started.
  void prefetch_job(int rank) const {
    prefetch(&jobs_[rank]);
    prefetch(reinterpret_cast<const char*>(&jobs_[rank]) + 64);
    idle_.prefetch_job(rank);
  }

  /// Ranks of the running jobs, increasing.
  const std::vector<int>& running() const { return running_; }
  /// Waiting and paused jobs.
  const IdleQueue& idle() const { return idle_; }

  double flow_time(int rank) const { return now_ - jobs_[rank].submit; }
  /// flow time / (virtual time)^2; infinite at zero virtual time (Casanova, Stillwell, Vivien 2011,
  /// section 4.1).
  double priority(int rank) const {
    return priority_at(now_, jobs_[rank].submit, jobs_[rank].virtual_time);
  }

  /// Waiting or paused -> running on `nodes` (increasing).  No checks: see check_machine.
  void start(int rank, NodeList nodes, Reason reason, int other_rank = -1, double value = 0);
  /// Running -> paused.
  void pause(int rank, Reason reason, int other_rank = -1, double value = 0);
  /// Running, from now on on other nodes.
  void move(int rank, NodeList nodes, Reason reason, int other_rank = -1, double value = 0);
  /// Says why a job that is not running stays so (the last reason of an event counts).
  void explain_wait(int rank, Reason reason, int other_rank = -1, double value = 0) {
    record_change(rank, {}, reason, other_rank, value);
  }

  void set_yield(int rank, double yield) { jobs_[rank].yield = yield; }

 protected:
  /// Sets the clock to `time`; running jobs gain virtual time.  Returns whether any job did.
  bool advance(double time);
  /// Unsubmitted -> waiting.
  void submit(int rank);
  /// Running -> finished.
  void finish(int rank);
  /// The running job makes no progress before `time`.
  void set_penalty(int rank, double time) { jobs_[rank].penalty_until = time; }
  /// The jobs that were started, paused, moved or explained since the last call, in the order in
  /// which they were first; each once.  Valid until the next call.
  const std::vector<Change>& take_changes();

 private:
  void add_running(int rank);
  void remove_running(int rank);
  void add_idle(int rank);
  void occupy_nodes(int rank, NodeList&& nodes);
  // Returns the nodes that the job had.
  NodeList release_nodes(int rank);
  // `previous_nodes`: of a running job, before the change.
  void record_change(int rank, NodeList&& previous_nodes, Reason reason, int other_rank,
                     double value);

  double now_ = 0;
  std::vector<Job> jobs_;           // by rank
  std::vector<NodeAccount> nodes_;  // by number
  std::vector<int> running_;
  IdleQueue idle_;
  std::vector<Change> changes_;           // of this event
  std::vector<Change> returned_changes_;  // by the last take_changes()
};

}  // namespace cosched::cluster::dfrs
