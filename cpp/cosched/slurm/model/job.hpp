// A job as it is submitted.
#pragma once

#include <optional>
#include <utility>

#include "cosched/slurm/model/machine.hpp"
#include "cosched/slurm/model/shares.hpp"

namespace cosched::slurm {

/// What Slurm plans for a job without a limit.
inline constexpr Second kYear = Second{365} * 24 * 3600;

/// A job that runs when the simulation begins: since when, and its part of each node.
struct RunningState {
  double start;
  Shares shares;  // of whole nodes, only their numbers count
};

/// A job that waits when the simulation begins: its priority, and since when its age counts
/// (infinite: not yet).
struct QueueState {
  double priority;
  double age_since;
};

/// What a job asks of nodes that jobs share (RULES.md 7).
struct ResourceRequest {
  int max_nodes = kAnyNodes;
  int tasks = 0;              // 0: not set
  int task_cores = 1;         // --cpus-per-task
  bool is_exclusive = false;  // whole nodes
  std::int64_t memory = 0;    // MB of a node, or of a core
  bool is_memory_by_core = false;
  bool wants_all_memory = false;  // of its nodes
  int gpus = 0;                   // of a node, or in all
  bool are_gpus_by_node = false;
  int gpu_type = -1;  // -1: any
};

/// Jobs, or all tasks of an array, that a job waits for (RULES.md 9.4).
struct Dependency {
  enum class Kind : char { after, after_any, after_ok, after_not_ok } kind;
  std::vector<int> jobs;
};

/// What must be true before a job is tried (RULES.md 9).
struct Conditions {
  double begin = 0;         // --begin (s)
  bool is_held = false;     // until it is released
  int singleton = -1;       // jobs of one user and name have one number
  int singleton_name = -1;  // the same of a job that waits for none of them
  std::vector<Dependency> dependencies;
  int array = -1;                             // -1: the job is no task of an array
  int array_limit = 0;                        // how many tasks of the array may run (%n); 0: all
  int reservation = -1;                       // of Scenario::reservations
  std::vector<std::pair<int, int>> licences;  // (licence, how many)

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
  int node_set = -1;                 // of Machine::node_sets, nodes that it may use
  std::vector<int> alternative_sets = {};  // of Machine::node_sets: all nodes are of one ([a|b])
  Conditions conditions = {};
  bool can_requeue = true;        // when a node of it fails
  bool exits_with_error = false;  // exits with another code than 0
  // Since when its age counts, where that is before its arrival: of a task that %n of its array
  // kept (RULES.md 13.6).
  double age_from = std::numeric_limits<double>::infinity();
  std::optional<RunningState> running_state = {};
  std::optional<QueueState> queue_state = {};
  bool is_unlimited = false;  // in a Scenario: it has no limit, so that no check ends it
  // In a Scenario: jobs of one shape ask the same of nodes; those of one kind also have the same
  // limit, features and reservation.
  int shape = -1;
  int kind = -1;
};

}  // namespace cosched::slurm
