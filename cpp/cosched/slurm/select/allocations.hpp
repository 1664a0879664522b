// Which nodes jobs have: running jobs, completing ones, and what is free (RULES.md 6).
#pragma once

#include <map>

#include "cosched/slurm/select/core_map.hpp"
#include "cosched/slurm/select/free_resources.hpp"
#include "cosched/slurm/select/node_choice.hpp"

namespace cosched::slurm {

/// The allocations of all jobs.  A job is pending, running (or hidden or suspended), completing
/// while its epilog runs, and done.
class Allocations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Allocations(const Scenario& scenario);

  // --- what happens to jobs and nodes ---

  /// The job was submitted: it gets its place on slurmctld's list of jobs.
  void add_to_list(int job);
  void start(int job, const NodeChoice& choice, Second now);
  /// The job is completing: its nodes are free for plans, but not for starts.
  void end(int job, Second now);
  /// The last node of the job has sent its epilog message.
  void complete_epilog(int job);
  /// The job was requeued: it is pending again.
  void mark_pending(int job) { states_[job] = JobState::pending; }
  /// A job stops, and resumes: the time that it has run counts for its limit (RULES.md 16.5).
  void suspend(int job, Second now);
  void resume(int job, Second now);
  /// A running job counts as ended, and runs again (will-run tests with preemption).
  void hide(int job);
  void unhide(int job);
  /// Nodes that jobs may start on, or not.
  void set_nodes_up(const NodeBits& nodes, bool are_up);

  // --- nodes ---

  const NodeBits& up_nodes() const { return up_nodes_; }
  /// Nodes with a job; where jobs share nodes, those without a free core.
  const NodeBits& busy_nodes() const { return busy_nodes_; }
  const NodeBits& completing_nodes() const { return completing_nodes_; }
  /// Where jobs share nodes.
  const FreeResources& free_resources() const { return free_resources_; }
  /// Where jobs are suspended.
  const CoreMap& core_map() const { return core_map_; }

  // --- jobs ---

  /// By (expected end, place on slurmctld's list).
  const std::vector<int>& running_jobs() const { return running_jobs_; }
  bool has_started(int job) const { return states_[job] != JobState::pending; }
  bool is_running(int job) const { return states_[job] == JobState::running; }
  bool has_ended(int job) const { return states_[job] >= JobState::completing; }
  bool is_done(int job) const { return states_[job] == JobState::done; }
  bool is_suspended(int job) const { return allocations_[job].is_suspended; }
  /// True when a job that ended at `since` or later is completing.
  bool has_completing_since(Second since) const;
  /// Where a submitted job is on slurmctld's list: tasks of an array that have not started share a
  /// place.
  std::int64_t list_place(int job) const;

  // --- the allocation of a job that has started ---

  const NodeBits& nodes(int job) const { return allocations_[job].nodes; }
  const Shares& shares(int job) const { return allocations_[job].shares; }
  /// Where jobs are suspended: its cores and its partition.
  const NodeBits& cores(int job) const { return allocations_[job].cores; }
  int partition(int job) const { return allocations_[job].partition; }
  Second start_second(int job) const { return allocations_[job].start; }
  /// When the limit of the job is reached.
  Second expected_end(int job) const { return allocations_[job].expected_end; }

  /// Grows at each start, end and epilog.
  std::int64_t change_count() const { return change_count_; }
  /// Grows also when jobs are hidden and unhidden: what is computed from the allocations is valid
  /// as long as it stays the same.
  std::int64_t version() const { return change_count_ + hide_count_; }

 private:
  enum class JobState : char { pending, running, completing, done };
  struct JobAllocation {
    NodeBits nodes;
    Shares shares;
    NodeBits cores = NodeBits();
    int partition = 0;
    Second start = 0;
    Second expected_end = 0;
    Second end = 0;
    std::int64_t list_place = 0;
    bool is_suspended = false;
    Second last_switch = 0;  // when it started, or was last suspended or resumed
    Second ran_before = 0;   // s that it had run before the last switch
  };

  void allocate(int job);
  void release(int job);
  void allocate_resources(const JobAllocation& allocation);
  void release_resources(const JobAllocation& allocation);
  void update_nodes(const JobAllocation& allocation);
  void insert_running(int job);

  const Scenario& scenario_;
  std::vector<JobAllocation> allocations_;  // by job
  std::vector<JobState> states_;            // by job; a vector of its own, as whole queues ask
  std::vector<int> running_jobs_;
  std::vector<int> completing_jobs_;
  NodeBits up_nodes_;
  NodeBits busy_nodes_;
  NodeBits completing_nodes_;
  FreeResources free_resources_;
  CoreMap core_map_;
  std::int64_t change_count_ = 0;
  std::int64_t hide_count_ = 0;
  std::int64_t list_place_count_ = 0;
  std::map<int, std::int64_t> list_place_of_array_;  // of its tasks that have not started
};

}  // namespace cosched::slurm
