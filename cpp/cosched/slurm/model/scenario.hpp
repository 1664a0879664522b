// What a simulation of slurmctld is given: machine, partitions, jobs, settings.
#pragma once

#include <optional>
#include <utility>

#include "cosched/slurm/model/account_limits.hpp"
#include "cosched/slurm/model/node_bits.hpp"
#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

/// What Slurm plans for a job without a limit.
inline constexpr Second kYear = Second{365} * 24 * 3600;

/// A job's part of a node.
struct Share {
  int node, cores;
  std::int64_t memory;  // MB
};
struct GpuShare {
  int node, type, count;
};
struct Shares {
  std::vector<Share> nodes;  // increasing
  std::vector<GpuShare> gpus;
};

/// Of a job that runs when the simulation begins: since when, and what it holds.
struct RunningState {
  double start;
  Shares shares;  // of whole nodes, only their numbers count
};

/// Of a job that waits when the simulation begins: its priority, and since when its age counts
/// (infinite: not yet).
struct QueueState {
  double priority, age_since;
};

struct Partition {
  NodeBits nodes;
  int tier = 1;              // PriorityTier
  Second max_time = kNever;  // MaxTime
  double job_factor = 0;     // PriorityJobFactor over the largest one
  int min_nodes = 0, max_nodes = std::numeric_limits<int>::max();  // of a job (RULES.md 9.11)
  int qos = -1;           // of Machine::qos, whose limits hold for its jobs
  Amounts billing = {};   // TRESBillingWeights; empty: CPUs
  int preempt_mode = -1;  // of its jobs; -1: the cluster's
  Second grace_time = 0;  // GraceTime
};

struct Machine {
  int nodes = 0;
  int cpus = 0;                      // of all nodes
  std::vector<NodeBits> node_lines;  // NodeName lines, by increasing weight
  std::vector<Partition> partitions;
  std::vector<int> node_cores;  // where jobs share nodes (CR_Core), else empty
  // The rest where it is said; by node.
  std::vector<std::int64_t> node_memory;    // MB, where memory is handed out
  std::vector<std::vector<int>> node_gpus;  // of each type
  std::vector<int> node_weight;             // Weight; empty = all are equal
  std::vector<NodeBits> node_sets;          // nodes with some features, as jobs ask for them
  std::vector<int> licences;                // how many of each
  std::vector<Qos> qos;
  Amounts priority_tres = {};        // PriorityWeightTRES; empty: none
  NodeBits down_nodes = NodeBits();  // nodes that take no jobs from the begin on (RULES.md 11.4)
};

inline constexpr int kAnyNodes = std::numeric_limits<int>::max();

/// What a job asks of nodes that jobs share (RULES.md 7).
struct ResourceRequest {
  int max_nodes = kAnyNodes;
  int tasks = 0, task_cores = 1;  // 0: not said
  bool is_exclusive = false;      // whole nodes
  std::int64_t memory = 0;        // MB of a node, or of a core
  bool is_memory_by_core = false;
  bool wants_all_memory = false;  // of its nodes
  int gpus = 0;                   // of a node, or in all
  bool are_gpus_by_node = false;
  int gpu_type = -1;  // any
};

/// Another job, or all tasks of an array, that a job waits for (RULES.md 9.4).
struct Dependency {
  enum class Kind : char { after, after_any, after_ok, after_not_ok } kind;
  std::vector<int> jobs;
};

/// What must be true before a job is looked at (RULES.md 9).
struct Conditions {
  double begin = 0;         // --begin (s)
  bool is_held = false;     // until it is released
  int singleton = -1;       // jobs of one user and name have one number
  int singleton_name = -1;  // the same of a job that waits for none of them
  std::vector<Dependency> dependencies;
  int array = -1, array_limit = 0;  // which, and how many of its tasks may run (0 = all)
  int reservation = -1;
  std::vector<std::pair<int, int>> licences;  // (which, how many)

  bool are_empty() const { return begin <= 0 && !is_held && singleton < 0 && dependencies.empty(); }
};

struct Job {
  double submit = 0;      // s
  int nodes = 1;          // whole ones
  int cpus = 1;           // requested, for the job size factor; the cores where jobs share nodes
  Second limit = kNever;  // in a Scenario: the partition's MaxTime at most, a year if there is none
  double runtime = 0;
  int partition = 0;
  int user = 0;
  double nice = 0;
  double priority = -1;   // as recorded; below 0: computed
  int association = -1;   // of Scenario::accounts
  int qos = -1;           // of Machine::qos
  double qos_factor = 0;  // priority of its QOS over the highest
  ResourceRequest request = {};
  std::vector<int> partitions = {};  // where it may run, as written; empty: in `partition` only
  int node_set = -1;                 // of Machine::sets, nodes that it may use
  std::vector<int> alternative_sets = {};  // of them: all its nodes are of one ([a|b])
  Conditions conditions = {};
  bool can_requeue = true;        // when a node of it fails
  bool exits_with_error = false;  // exits with another code than 0
  // Since when its age counts, where that is before its arrival: of a task that %n of its array
  // kept (RULES.md 13.6).
  double age_from = std::numeric_limits<double>::infinity();
  std::optional<RunningState> running_state = {};
  std::optional<QueueState> queue_state = {};
  bool is_unlimited = false;  // in a Scenario: it has no limit, so that no check ends it
  // In a Scenario: jobs of one shape ask the same of nodes, those of one kind also for as long,
  // with the same features, in the same reservation.
  int shape = -1, kind = -1;
};

/// Nodes that are kept for some jobs, for some time (RULES.md 10).
struct Reservation {
  double created_at;
  Second begin, end;
  NodeBits nodes;
  bool is_maintenance = false, has_all_nodes = false;  // Flags=MAINT, Nodes=ALL
};

/// A user's share of an account, or an account's of the one above (RULES.md 13).
struct Association {
  int parent = -1;
  double shares = 1;  // below 0: Fairshare=parent
  bool is_user = false;
  Limits limits = {};
  double initial_usage = 0;  // when the simulation begins: CPU seconds
  double initial_factor =
      -1;  // of its priorities, of the last pass before that; below 0: by its usage

  bool uses_parent_shares() const { return shares < 0; }
};

/// What an administrator does (RULES.md 9.2, 11).
struct AdminEvent {
  enum class Kind : char { release, reserve, down, drain, resume } kind;
  double time;
  int job = -1;
  NodeBits nodes = NodeBits();
};

/// A place in the queue: a job may be in several, one of each of its partitions.
struct QueueEntry {
  int job;
  int partition;
  bool operator==(const QueueEntry& other) const {
    return job == other.job && partition == other.partition;
  }
};

/// Immutable once made.  Invariants: every job's partitions exist, have nodes for it and let it
/// have them; limits are finite.
class Scenario {
 public:
  /// Cuts limits, and takes jobs out of partitions that would never run them.  Throws
  /// InfeasibleError that names a job larger than its partition, or than that lets a job be.
  Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings,
           std::vector<Reservation> reservations = {}, std::vector<AdminEvent> outside = {},
           std::vector<Association> accounts = {});

  /// The first `kept` jobs, and behind them others (like which of all, submitted when).
  /// Dependencies of those that are kept are among them.  O(machine, jobs).
  Scenario with_arrivals(int kept, const std::vector<std::pair<int, double>>& more) const;

  const Machine& machine() const { return machine_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  const Settings& settings() const { return settings_; }
  const std::vector<Reservation>& reservations() const { return reservations_; }
  const std::vector<AdminEvent>& admin_events() const { return admin_events_; }
  /// The first is the root; a parent comes before its children.  None: no slurmdbd.
  const std::vector<Association>& accounts() const { return accounts_; }

  const Job& job(int number) const { return jobs_[number]; }
  std::size_t kind_count() const { return kind_count_; }
  /// Of the job; below 0: it is none of an array.  Side by side, as whole queues are asked for it.
  int array_of(int number) const { return array_by_job_[number]; }
  /// As its partition has it: with no fewer nodes than MinNodes, no more than MaxNodes.
  const Job& job(QueueEntry entry) const {
    if (bounded_jobs_.empty()) return job(entry.job);
    const auto found = bounded_jobs_.find({entry.job, entry.partition});
    return found == bounded_jobs_.end() ? job(entry.job) : found->second;
  }
  const Partition& partition(int job_number) const {
    return machine_.partitions[job(job_number).partition];
  }
  const Partition& partition(QueueEntry entry) const {
    return machine_.partitions[entry.partition];
  }
  /// Partitions of lower tiers that share nodes with it: whose jobs its own may preempt (RULES.md
  /// 15.1).
  const std::vector<int>& lower_partitions(int part) const { return lower_partitions_[part]; }
  /// Jobs have cores of their own, several on a node.
  bool shares_nodes() const { return !machine_.node_cores.empty(); }
  /// Jobs of lower tiers are suspended (RULES.md 16).
  bool suspends_jobs() const { return shares_nodes() && settings_.preempt.suspends_jobs(); }

 private:
  void apply_partition_bounds(int number);
  void number_shapes();

  Machine machine_;
  std::vector<Job> jobs_;
  // Those that a partition changes, by (job, partition).
  std::map<std::pair<int, int>, Job> bounded_jobs_;
  Settings settings_;
  std::vector<Reservation> reservations_;
  std::vector<AdminEvent> admin_events_;
  std::vector<Association> accounts_;
  std::vector<std::vector<int>> lower_partitions_;
  std::size_t kind_count_ = 0;
  std::vector<int> array_by_job_;
};

// Numbers that refer to others, looked at once.

/// InvalidInstance where a number of the scenario refers to a node, partition, set, QOS, licence,
/// association, job or reservation that is not there, or a table by node has not a row for each.
/// The rooms above index by these numbers without a look.  O(machine, jobs).
void require_references(const Scenario& scenario);

}  // namespace cosched::slurm
