// ScheduleChecker on a recorded trace.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/cluster/model/instance.hpp"
#include "cosched/cluster/model/outcome.hpp"
#include "cosched/cluster/model/prefetch.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::check {

// The independent validator of simulations.  It shares no code with the simulator, the
// policies or their data structures: it is told, in order of time, which job begins and
// ends to hold which nodes at which yield, and keeps its own account of everything.

struct TraceRules {
  double penalty = 0;      // seconds without progress after each resumption or move
  bool exclusive = false;  // a batch policy: one task a node
};

/// Throws InvalidSchedule that names the first breach:
///   ranges; one node a task; yield in [0, 1]; no span before the job's submission, no two at
///   once; gaps and changes of nodes are what the causes say;
///   each node after settle(): memory <= 1, CPU shares <= 1 (exclusive: one task);
///   finish(): the integral of the yield outside penalties is the run time, `outcome` has
///   the first starts, the ends, the numbers of pauses and moves.
/// Times are compared with kValidateTolerance relative to the larger, fractions of nodes
/// with 1e-9 absolute.  O(tasks) a call.
class ScheduleChecker {
 public:
  ScheduleChecker(const Jobs& jobs, int nodes, const TraceRules& rules);

  /// From `time` on, the job's tasks hold `nodes` (increasing).
  void begin(int job, double time, const int* nodes, std::size_t count, double yield,
             RowCause cause);
  void end(int job, double time);
  /// All changes of one moment have been told.
  void settle();
  void finish(const Outcome& outcome) const;

  /// The job will soon be told of.
  void expect(int job) const { prefetch(&state_[job]); }
  /// No progress before this time, by the rules; valid after begin().
  double penalty_end(int job) const { return state_[job].penalty_end; }

 private:
  // Jobs come and go by the million: what a job keeps while it does not run is one cache line.
  struct alignas(64) State {
    double memory = 0, cpu = 0;  // as given
    double last = -kInfinity;    // end of the last span; its start, at first
    double work = 0, penalty_end = -kInfinity;
    int tasks = 0, pauses = 0, moves = 0;
    int span = -1;         // index into spans_, while it runs
    std::size_t held = 0;  // its latest nodes: held_[held .. held + tasks)
    bool ran() const { return last > -kInfinity; }
    bool open() const { return span >= 0; }
  };
  struct Span {
    double since, yield;
  };
  struct Use {
    double memory = 0, cpu = 0;
    int tasks = 0;
    bool touched = false;
  };

  void check_span(int job, double time, const int* nodes, std::size_t count, double yield) const;
  void check_transition(int job, double time, bool moved, RowCause cause) const;
  void open_span(State& state, const Span& span);
  void use_nodes(const State& state, double yield, int sign);
  void check_node(int node) const;
  void check_job(int job, const Outcome& outcome) const;

  const Jobs& jobs_;
  const TraceRules rules_;
  double now_ = 0;
  std::vector<State> state_;
  std::vector<double> first_;      // start of the job's first span
  std::vector<int> held_;          // nodes; -1 at first
  std::vector<Span> spans_;        // open ones, and the unused
  std::vector<int> unused_spans_;  // indices
  std::vector<Use> use_;
  std::vector<int> touched_;
};

/// Feeds the rows to a ScheduleChecker in order of time, and checks that progress is 0
/// during penalties and the yield otherwise.  Throws InvalidSchedule that names the first
/// breach.  O(r log r + total tasks of the rows).
void validate_trace(const Instance& instance, const Trace& trace, const Outcome& outcome,
                    const TraceRules& rules);

}  // namespace cosched::cluster::check
