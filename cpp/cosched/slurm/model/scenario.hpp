// What a simulation of slurmctld starts from: machine, jobs, settings, reservations, accounts.
#pragma once

#include <map>

#include "cosched/slurm/model/job.hpp"
#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

/// An advance reservation: nodes that are kept for some jobs, for some time (RULES.md 10).
struct Reservation {
  double created_at;
  Second begin;
  Second end;
  NodeBits nodes;
  bool is_maintenance = false;  // Flags=MAINT
  bool has_all_nodes = false;   // Nodes=ALL
};

/// A user's share of an account, or an account's of the one above (RULES.md 13).
struct Association {
  int parent = -1;
  double shares = 1;  // below 0: Fairshare=parent
  bool is_user = false;
  Limits limits = {};
  double initial_usage = 0;  // CPU seconds when the simulation begins
  // The fair-share factor of the last pass before the simulation; below 0: computed from usage.
  double initial_factor = -1;

  bool uses_parent_shares() const { return shares < 0; }
};

/// What an administrator does (RULES.md 9.2, 11).
struct AdminEvent {
  enum class Kind : char { release, reserve, down, drain, resume } kind;
  double time;
  int job = -1;                 // that is released
  NodeBits nodes = NodeBits();  // that go down, drain or resume
};

/// A job in one of its partitions: what the queue consists of.
struct QueueEntry {
  int job;
  int partition;
  bool operator==(const QueueEntry& other) const {
    return job == other.job && partition == other.partition;
  }
};

/// Immutable.  Invariants: every job's partitions exist, have enough nodes for it and allow so
/// many; limits are finite.
class Scenario {
 public:
  /// Cuts limits, and takes jobs out of partitions that would never run them.  Throws
  /// InfeasibleError that names a job larger than its partition, or than the partition allows.
  Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings,
           std::vector<Reservation> reservations = {}, std::vector<AdminEvent> admin_events = {},
           std::vector<Association> accounts = {});

  /// The first `job_count` jobs, and behind them a copy of a job for each (job, submit time) of
  /// `arrivals`.  Requires that the first jobs depend on each other only.  O(machine, jobs).
  Scenario with_arrivals(int job_count, const std::vector<std::pair<int, double>>& arrivals) const;

  const Machine& machine() const { return machine_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  const Settings& settings() const { return settings_; }
  const std::vector<Reservation>& reservations() const { return reservations_; }
  const std::vector<AdminEvent>& admin_events() const { return admin_events_; }
  /// The first is the root; a parent comes before its children.  None: no slurmdbd.
  const std::vector<Association>& accounts() const { return accounts_; }

  const Job& job(int number) const { return jobs_[number]; }
  std::size_t kind_count() const { return kind_count_; }
  /// The array of the job; below 0: the job is no task of an array.
  int array_of(int number) const { return array_by_job_[number]; }
  /// The job with no fewer nodes than MinNodes of the partition, and no more than MaxNodes.
  const Job& job(QueueEntry entry) const {
    if (bounded_jobs_.empty()) return job(entry.job);
    const auto bounded_job = bounded_jobs_.find({entry.job, entry.partition});
    return bounded_job == bounded_jobs_.end() ? job(entry.job) : bounded_job->second;
  }
  const Partition& partition(int job_number) const {
    return machine_.partitions[job(job_number).partition];
  }
  const Partition& partition(QueueEntry entry) const {
    return machine_.partitions[entry.partition];
  }
  /// Partitions of lower tiers that share nodes with this one: its jobs may preempt theirs
  /// (RULES.md 15.1).
  const std::vector<int>& lower_partitions(int partition) const {
    return lower_partitions_[partition];
  }
  /// True where several jobs may run on a node, each on its own cores.
  bool shares_nodes() const { return !machine_.node_cores.empty(); }
  /// True where jobs of lower tiers are suspended (RULES.md 16).
  bool suspends_jobs() const { return shares_nodes() && settings_.preempt.suspends_jobs(); }

 private:
  void apply_partition_bounds(int number);
  void number_shapes();

  Machine machine_;
  std::vector<Job> jobs_;
  // Jobs that MinNodes or MaxNodes of a partition changes, by (job, partition).
  std::map<std::pair<int, int>, Job> bounded_jobs_;
  Settings settings_;
  std::vector<Reservation> reservations_;
  std::vector<AdminEvent> admin_events_;
  std::vector<Association> accounts_;
  std::vector<std::vector<int>> lower_partitions_;
  std::size_t kind_count_ = 0;
  std::vector<int> array_by_job_;  // a vector of its own, as whole queues ask for it
};

}  // namespace cosched::slurm
