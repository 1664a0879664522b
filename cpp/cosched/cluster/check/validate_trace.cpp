#include "cosched/cluster/check/validate_trace.hpp"

namespace cosched::cluster::check {
namespace {

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
