// ScheduleChecker on a recorded trace.
#pragma once

#include <tuple>

#include "cosched/cluster/model/outcome.hpp"
#include "cosched/cluster/model/prefetch.hpp"
#include "cosched/core/interrupt.hpp"

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
  ScheduleChecker(const Jobs& jobs, int nodes, const TraceRules& rules)
      : jobs_(jobs), rules_(rules), state_(jobs.size()), first_(jobs.size()), use_(nodes) {
    std::size_t tasks = 0;
    for (int job = 0; job < jobs.size(); ++job) {
      State& state = state_[job];
      state.memory = jobs.memory[job];
      state.cpu = jobs.cpu[job];
      state.tasks = jobs.tasks[job];
      state.held = tasks;
      tasks += static_cast<std::size_t>(state.tasks);
    }
    held_.assign(tasks, -1);
  }

  /// From `time` on, the job's tasks hold `nodes` (increasing).
  void begin(int job, double time, const int* nodes, std::size_t count, double yield,
             RowCause cause) {
    check_span(job, time, nodes, count, yield);
    State& state = state_[job];
    int* held = held_.data() + state.held;
    bool moved = false;
    for (std::size_t k = 0; k < count; ++k) moved |= held[k] != nodes[k];
    check_transition(job, time, moved, cause);
    if (!state.ran()) first_[job] = state.last = time;
    state.pauses += cause == RowCause::resume;
    state.moves += cause == RowCause::move;
    if (cause == RowCause::resume || cause == RowCause::move)
      state.penalty_end = time + rules_.penalty;
    if (moved)
      for (std::size_t k = 0; k < count; ++k) held[k] = nodes[k];  // few: no call
    open_span(state, {time, yield});
    use_nodes(state, yield, +1);
    now_ = time;
  }

  void end(int job, double time) {
    if (job < 0 || job >= jobs_.size() || !state_[job].open())
      fail(job_at(jobs_, job, time) + " ends, but does not run");
    State& state = state_[job];
    const Span span = spans_[state.span];
    if (!(time >= span.since) || !std::isfinite(time))
      fail(job_at(jobs_, job, span.since) + " ends at " + to_text(time) + " s");
    const double from = std::max(span.since, state.penalty_end);
    if (time > from) state.work += span.yield * (time - from);
    use_nodes(state, span.yield, -1);
    unused_spans_.push_back(state.span);
    state.span = -1;
    state.last = time;
    now_ = time;
  }

  /// All changes of one moment have been told.
  void settle() {
    for (const int node : touched_) {
      check_node(node);
      use_[node].touched = false;
    }
    touched_.clear();
  }

  void finish(const Outcome& outcome) const {
    for (int job = 0; job < jobs_.size(); ++job) check_job(job, outcome);
  }

  /// The job will soon be told of.
  void expect(int job) const { prefetch(&state_[job]); }
  /// No progress before this time, by the rules; valid after begin().
  double penalty_end(int job) const { return state_[job].penalty_end; }

 private:
  static constexpr double kNodeTolerance = 1e-9;

  [[noreturn]] static void fail(const std::string& what) { throw InvalidSchedule(what); }

  static std::string job_at(const Jobs& jobs, int job, double time) {
    return jobs.called(job) + " at " + to_text(time) + " s";
  }

  static bool same_time(double a, double b) {
    return std::abs(a - b) <= kValidateTolerance * std::max({std::abs(a), std::abs(b), 1.0});
  }

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

  void check_span(int job, double time, const int* nodes, std::size_t count, double yield) const {
    if (job < 0 || job >= jobs_.size())
      fail("job " + std::to_string(job) + ": there are " + std::to_string(jobs_.size()));
    if (!std::isfinite(time)) fail(job_at(jobs_, job, time) + ": not a finite time");
    const State& state = state_[job];
    if (count != static_cast<std::size_t>(state.tasks))
      fail(job_at(jobs_, job, time) + " has " + std::to_string(count) + " nodes for " +
           std::to_string(state.tasks) + " tasks");
    for (std::size_t k = 0; k < count; ++k) {
      if (nodes[k] < 0 || nodes[k] >= static_cast<int>(use_.size()))
        fail(job_at(jobs_, job, time) + " uses node " + std::to_string(nodes[k]) + " of " +
             std::to_string(use_.size()));
      if (k > 0 && nodes[k] < nodes[k - 1])
        fail(job_at(jobs_, job, time) + ": nodes are not in order");
    }
    if (!(yield >= 0 && yield <= 1 + kNodeTolerance))
      fail(job_at(jobs_, job, time) + " has yield " + to_text(yield));
    if (state.open()) fail(job_at(jobs_, job, time) + " begins while it runs already");
    const double submit = jobs_.submit[job];
    if (time < submit && !same_time(time, submit))
      fail(job_at(jobs_, job, time) + " runs before its submission at " + to_text(submit) + " s");
  }

  // What happened since the job's last span, by the geometry; must agree with the cause.
  void check_transition(int job, double time, bool moved, RowCause cause) const {
    const State& state = state_[job];
    if (!state.ran()) {
      if (cause != RowCause::start) fail(job_at(jobs_, job, time) + " begins, but is not a start");
      return;
    }
    if (cause == RowCause::start) fail(job_at(jobs_, job, time) + " is a second start");
    if (time < state.last && !same_time(time, state.last))
      fail(job_at(jobs_, job, time) + " begins before it ended at " + to_text(state.last) + " s");
    if (!same_time(time, state.last) && cause != RowCause::resume)
      fail(job_at(jobs_, job, time) + " follows a gap, but is not a resumption");
    if (moved && cause == RowCause::go_on)
      fail(job_at(jobs_, job, time) + " is on other nodes, but is not a move");
    if (!moved && cause == RowCause::move)
      fail(job_at(jobs_, job, time) + " is a move to the same nodes");
  }

  void open_span(State& state, const Span& span) {
    if (unused_spans_.empty()) {
      unused_spans_.push_back(static_cast<int>(spans_.size()));
      spans_.emplace_back();
    }
    state.span = unused_spans_.back();
    unused_spans_.pop_back();
    spans_[state.span] = span;
  }

  void use_nodes(const State& state, double yield, int sign) {
    const double memory = sign * state.memory;
    const double cpu = sign * state.cpu * yield;
    for (int k = 0; k < state.tasks; ++k) {
      const int node = held_[state.held + static_cast<std::size_t>(k)];
      Use& use = use_[node];
      use.tasks += sign;
      use.memory = use.tasks == 0 ? 0 : use.memory + memory;  // exact again when empty
      use.cpu = use.tasks == 0 ? 0 : use.cpu + cpu;
      if (!use.touched) touched_.push_back(node);
      use.touched = true;
    }
  }

  void check_node(int node) const {
    const Use& use = use_[node];
    const bool shared = rules_.exclusive && use.tasks > 1;
    const bool too_much = use.memory > 1 + 2 * kNodeTolerance || use.cpu > 1 + 2 * kNodeTolerance;
    if (!shared && !too_much) return;
    const std::string where = "node " + std::to_string(node) + " at " + to_text(now_) + " s";
    if (use.memory > 1 + 2 * kNodeTolerance)
      fail(where + " has memory " + to_text(use.memory) + " in use");
    if (use.cpu > 1 + 2 * kNodeTolerance) fail(where + " has CPU shares of " + to_text(use.cpu));
    fail(where + " has " + std::to_string(use.tasks) + " tasks");
  }

  void check_job(int job, const Outcome& outcome) const {
    const State& state = state_[job];
    const std::string name = jobs_.called(job);
    if (!state.ran()) fail(name + " never runs");
    if (state.open()) fail(name + " never ends");
    const double runtime = jobs_.runtime[job];
    if (std::abs(state.work - runtime) > kValidateTolerance * std::max({runtime, state.last, 1.0}))
      fail(name + " gets " + to_text(state.work) + " s of its " + to_text(runtime) + " s run time");
    if (!same_time(state.last, outcome.end[job]))
      fail(name + " ends at " + to_text(state.last) + " s, not at " + to_text(outcome.end[job]) +
           " s");
    if (!same_time(first_[job], outcome.start[job]))
      fail(name + " starts at " + to_text(first_[job]) + " s, not at " +
           to_text(outcome.start[job]) + " s");
    if (state.pauses != outcome.preemptions[job] || state.moves != outcome.migrations[job])
      fail(name + " has " + std::to_string(state.pauses) + " pauses and " +
           std::to_string(state.moves) + " moves, reported are " +
           std::to_string(outcome.preemptions[job]) + " and " +
           std::to_string(outcome.migrations[job]));
  }

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
