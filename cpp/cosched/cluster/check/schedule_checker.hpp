// The independent validator of simulations.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/cluster/model/instance.hpp"
#include "cosched/cluster/model/prefetch.hpp"
#include "cosched/cluster/model/simulation_outcome.hpp"
#include "cosched/cluster/model/trace.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::check {

struct TraceRules {
  double penalty = 0;         // seconds without progress after each resumption or move
  bool is_exclusive = false;  // a batch policy: at most one task on a node
};

/// Whether the node numbers that begin_row() gets stay where they are until the check ends.
enum class NodeLists { are_copied, stay };

/// Shares no code with the simulator, the policies or their data structures: it is told, in order
/// of time, which job begins and ends to run on which nodes at which yield, and keeps its own
/// account of everything.
///
/// Throws InvalidSchedule that names the first breach:
///   ranges; one node for each task; yield in [0, 1]; no row before the job's submission, no two at
///   once; gaps and changes of nodes are what the causes say;
///   each node after finish_event(): memory <= 1, CPU shares <= 1 (exclusive: one task);
///   finish(): the integral of the yield outside penalties is the run time, `outcome` has
///   the first starts, the ends, the numbers of pauses and moves.
/// Times are compared with kValidateTolerance relative to the larger, fractions of nodes
/// with 1e-9 absolute.  O(tasks) a call.
class ScheduleChecker {
 public:
  /// Keeps a reference to the jobs.
  ScheduleChecker(const Jobs& jobs, int nodes, const TraceRules& rules,
                  NodeLists node_lists = NodeLists::are_copied);

  /// From `time` on, the job's tasks are on `nodes` (increasing).
  void begin_row(int job, double time, const int* nodes, std::size_t count, double yield,
                 RowCause cause);
  /// The job's tasks leave their nodes, or its next row begins.
  void end_row(int job, double time);
  /// All changes of one moment have been reported.
  void finish_event();
  /// The simulation is over.
  void finish(const SimulationOutcome& outcome) const;

  /// Announces that begin_row() or end_row() will be called for the job.
  void prefetch_job(int job) const { prefetch(&accounts_[job]); }
  /// The job makes no progress before this time, by the rules.  Valid after begin_row().
  double penalty_end(int job) const { return accounts_[job].penalty_end; }

 private:
  // Jobs come and go by the million: what is kept of a job that does not run is one cache line.
  struct alignas(64) JobAccount {
    double memory = 0;             // need of a task
    double cpu = 0;                // need of a task
    double last_end = -kInfinity;  // of its rows; before the first has ended, the first start
    double work = 0;               // integral of the yield outside penalties
    double penalty_end = -kInfinity;
    int tasks = 0;
    int pauses = 0;
    int moves = 0;
    int open_row = -1;           // index into open_rows_, while it runs
    const int* nodes = nullptr;  // its latest nodes, one for each task; null before its first row

    bool has_run() const { return last_end > -kInfinity; }
    bool is_running() const { return open_row >= 0; }
  };
  struct RowBegin {
    double time;
    double yield;
  };
  struct NodeUse {
    double memory = 0;
    double cpu = 0;
    int tasks = 0;
    bool is_changed = false;  // since the last finish_event()
  };

  void check_row(int job, double time, const int* nodes, std::size_t count, double yield) const;
  // What happened since the job's last row, by its times and nodes, must agree with the cause.
  void check_transition(int job, double time, bool has_moved, RowCause cause) const;
  void check_node(int node) const;
  void check_job(int job, const SimulationOutcome& outcome) const;
  // Remembers the job's latest nodes, in a copy where they do not stay where they are.
  void keep_nodes(int job, const int* nodes);
  void open_row(JobAccount& account, const RowBegin& begin);
  // The job's tasks take their shares of its nodes (sign +1) or give them back (-1).
  void use_nodes(const JobAccount& account, double yield, int sign);

  const Jobs& jobs_;
  const TraceRules rules_;
  double now_ = 0;
  std::vector<JobAccount> accounts_;     // by job
  std::vector<double> first_starts_;     // by job
  std::vector<std::size_t> copy_begin_;  // by job: the begin of its copy; empty: nodes stay
  std::vector<int> node_copies_;         // of all jobs, one after the other
  std::vector<RowBegin> open_rows_;      // those in use and the free ones
  std::vector<int> free_rows_;           // indices into open_rows_
  std::vector<NodeUse> uses_;            // by node
  std::vector<int> changed_nodes_;       // since the last finish_event()
};

}  // namespace cosched::cluster::check
