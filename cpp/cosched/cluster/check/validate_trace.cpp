#include "cosched/cluster/check/validate_trace.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::check {
namespace {

constexpr double kNodeTolerance = 1e-9;

[[noreturn]] void fail(const std::string& what) { throw InvalidSchedule(what); }

std::string job_at(const Jobs& jobs, int job, double time) {
  return jobs.called(job) + " at " + to_text(time) + " s";
}

bool same_time(double a, double b) {
  return std::abs(a - b) <= kValidateTolerance * std::max({std::abs(a), std::abs(b), 1.0});
}

// At one time: ends of spans, then spans of length 0, then begins.
enum Phase { kEnd, kInstant, kBegin };

struct Moment {
  double time;
  Phase phase;
  std::size_t row;
  bool operator<(const Moment& other) const {
    return std::tie(time, phase, row) < std::tie(other.time, other.phase, other.row);
  }
};

[[noreturn]] void fail(const Jobs& jobs, const Trace& trace, std::size_t row,
                       const std::string& what) {
  throw InvalidSchedule("row " + std::to_string(row) + " (" + jobs.called(trace.job[row]) + ", " +
                        to_text(trace.start[row]) + " s) " + what);
}

bool clearly_before(double a, double b) {
  return a < b - kValidateTolerance * std::max({std::abs(a), std::abs(b), 1.0});
}

std::vector<Moment> moments(const Jobs& jobs, const Trace& trace) {
  std::vector<Moment> all;
  all.reserve(2 * trace.rows());
  for (std::size_t row = 0; row < trace.rows(); ++row) {
    const double start = trace.start[row], end = trace.end[row];
    if (!std::isfinite(start) || !std::isfinite(end) || start > end)
      fail(jobs, trace, row, "ends at " + to_text(end) + " s");
    if (trace.mapping[row] < 0 || trace.mapping[row] >= trace.mappings())
      fail(jobs, trace, row, "has an unknown mapping");
    if (start == end) {
      all.push_back({start, kInstant, row});
    } else {
      all.push_back({start, kBegin, row});
      all.push_back({end, kEnd, row});
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// A row lies inside or outside its job's penalty, and says so.
void check_progress(const Jobs& jobs, const Trace& trace, std::size_t row, double penalty_end) {
  const double start = trace.start[row], end = trace.end[row];
  if (!clearly_before(start, end)) return;
  const bool penalty = clearly_before(start, penalty_end);
  if (penalty && clearly_before(penalty_end, end))
    fail(jobs, trace, row, "goes on after its penalty's end at " + to_text(penalty_end) + " s");
  const double expected = penalty ? 0 : trace.yield[row];
  if (trace.progress[row] != expected)
    fail(jobs, trace, row,
         "has progress " + to_text(trace.progress[row]) + ": expected " + to_text(expected));
}

}  // namespace

ScheduleChecker::ScheduleChecker(const Jobs& jobs, int nodes, const TraceRules& rules)
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

void ScheduleChecker::check_span(int job, double time, const int* nodes, std::size_t count,
                                 double yield) const {
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
void ScheduleChecker::check_transition(int job, double time, bool moved, RowCause cause) const {
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

void ScheduleChecker::begin(int job, double time, const int* nodes, std::size_t count, double yield,
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

void ScheduleChecker::open_span(State& state, const Span& span) {
  if (unused_spans_.empty()) {
    unused_spans_.push_back(static_cast<int>(spans_.size()));
    spans_.emplace_back();
  }
  state.span = unused_spans_.back();
  unused_spans_.pop_back();
  spans_[state.span] = span;
}

void ScheduleChecker::end(int job, double time) {
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

void ScheduleChecker::use_nodes(const State& state, double yield, int sign) {
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

void ScheduleChecker::settle() {
  for (const int node : touched_) {
    check_node(node);
    use_[node].touched = false;
  }
  touched_.clear();
}

void ScheduleChecker::check_node(int node) const {
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

void ScheduleChecker::finish(const Outcome& outcome) const {
  for (int job = 0; job < jobs_.size(); ++job) check_job(job, outcome);
}

void ScheduleChecker::check_job(int job, const Outcome& outcome) const {
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
    fail(name + " starts at " + to_text(first_[job]) + " s, not at " + to_text(outcome.start[job]) +
         " s");
  if (state.pauses != outcome.preemptions[job] || state.moves != outcome.migrations[job])
    fail(name + " has " + std::to_string(state.pauses) + " pauses and " +
         std::to_string(state.moves) + " moves, reported are " +
         std::to_string(outcome.preemptions[job]) + " and " +
         std::to_string(outcome.migrations[job]));
}

void validate_trace(const Instance& instance, const Trace& trace, const Outcome& outcome,
                    const TraceRules& rules) {
  const auto jobs = static_cast<std::size_t>(instance.size());
  if (outcome.start.size() != jobs || outcome.end.size() != jobs ||
      outcome.preemptions.size() != jobs || outcome.migrations.size() != jobs)
    throw InvalidSchedule("the outcome has another number of jobs than the instance");
  ScheduleChecker checker(instance.jobs(), instance.nodes(), rules);
  const std::vector<Moment> all = moments(instance.jobs(), trace);
  Poll poll;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto [time, phase, row] = all[k];
    const int mapping = trace.mapping[row];
    poll.count(50 + 20 * (trace.node_begin[mapping + 1] - trace.node_begin[mapping]));
    if (phase != kEnd) {
      const auto begin = trace.node_begin[trace.mapping[row]];
      const auto end = trace.node_begin[trace.mapping[row] + 1];
      checker.begin(trace.job[row], time, trace.node.data() + begin,
                    static_cast<std::size_t>(end - begin), trace.yield[row], trace.cause[row]);
      check_progress(instance.jobs(), trace, row, checker.penalty_end(trace.job[row]));
    }
    if (phase != kBegin) checker.end(trace.job[row], time);
    if (k + 1 == all.size() || all[k + 1].time != time) checker.settle();
  }
  checker.finish(outcome);
}

}  // namespace cosched::cluster::check
