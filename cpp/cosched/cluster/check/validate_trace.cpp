#include "cosched/cluster/check/validate_trace.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::check {
namespace {

// In this order at one time: ends of rows, rows of length 0, begins of rows.
enum class RowPhase { end, instant, begin };

// What happens at a time: a row begins, ends, or both.
struct RowMoment {
  double time;
  RowPhase phase;
  std::size_t row;
  bool operator<(const RowMoment& other) const {
    return std::tie(time, phase, row) < std::tie(other.time, other.phase, other.row);
  }
};

[[noreturn]] void throw_row_breach(const Jobs& jobs, const TraceView& trace, std::size_t row,
                                   const std::string& breach) {
  throw InvalidSchedule("row " + std::to_string(row) + " (" + jobs.name_of(trace.job[row]) + ", " +
                        to_text(trace.start[row]) + " s) " + breach);
}

bool is_clearly_before(double a, double b) {
  return a < b - kValidateTolerance * std::max({std::abs(a), std::abs(b), 1.0});
}

std::vector<RowMoment> sort_moments(const Jobs& jobs, const TraceView& trace) {
  std::vector<RowMoment> moments;
  moments.reserve(2 * trace.rows());
  for (std::size_t row = 0; row < trace.rows(); ++row) {
    const double start = trace.start[row];
    const double end = trace.end[row];
    if (!std::isfinite(start) || !std::isfinite(end) || start > end)
      throw_row_breach(jobs, trace, row, "ends at " + to_text(end) + " s");
    if (trace.mapping[row] < 0 || trace.mapping[row] >= trace.mappings())
      throw_row_breach(jobs, trace, row, "has an unknown mapping");
    if (start == end) {
      moments.push_back({start, RowPhase::instant, row});
    } else {
      moments.push_back({start, RowPhase::begin, row});
      moments.push_back({end, RowPhase::end, row});
    }
  }
  std::sort(moments.begin(), moments.end());
  return moments;
}

// A row lies inside or outside its job's penalty, and its progress says so.
void check_progress(const Jobs& jobs, const TraceView& trace, std::size_t row, double penalty_end) {
  const double start = trace.start[row];
  const double end = trace.end[row];
  if (!is_clearly_before(start, end)) return;
  const bool is_in_penalty = is_clearly_before(start, penalty_end);
  if (is_in_penalty && is_clearly_before(penalty_end, end))
    throw_row_breach(jobs, trace, row,
                     "goes on after its penalty's end at " + to_text(penalty_end) + " s");
  const double expected = is_in_penalty ? 0 : trace.yield[row];
  if (trace.progress[row] != expected)
    throw_row_breach(
        jobs, trace, row,
        "has progress " + to_text(trace.progress[row]) + ": expected " + to_text(expected));
}

}  // namespace

void validate_trace(const Instance& instance, const TraceView& trace,
                    const SimulationOutcome& outcome, const TraceRules& rules) {
  const auto jobs = static_cast<std::size_t>(instance.size());
  if (outcome.start.size() != jobs || outcome.end.size() != jobs ||
      outcome.preemptions.size() != jobs || outcome.migrations.size() != jobs)
    throw InvalidSchedule("the outcome has another number of jobs than the instance");
  ScheduleChecker checker(instance.jobs(), instance.nodes(), rules, NodeLists::stay);
  const std::vector<RowMoment> moments = sort_moments(instance.jobs(), trace);
  Poll poll;
  for (std::size_t k = 0; k < moments.size(); ++k) {
    const auto [time, phase, row] = moments[k];
    const int mapping = trace.mapping[row];
    poll.count(50 + 20 * (trace.node_begin[mapping + 1] - trace.node_begin[mapping]));
    if (phase != RowPhase::end) {
      const auto begin = trace.node_begin[trace.mapping[row]];
      const auto end = trace.node_begin[trace.mapping[row] + 1];
      checker.begin_row(trace.job[row], time, trace.node.data() + begin,
                        static_cast<std::size_t>(end - begin), trace.yield[row], trace.cause[row]);
      check_progress(instance.jobs(), trace, row, checker.penalty_end(trace.job[row]));
    }
    if (phase != RowPhase::begin) checker.end_row(trace.job[row], time);
    if (k + 1 == moments.size() || moments[k + 1].time != time) checker.finish_event();
  }
  checker.finish(outcome);
}

}  // namespace cosched::cluster::check
