#include "cosched/moldable/graph/windows_bound.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::moldable::graph {
namespace {

// The latest end of a job that runs alone from its release on.
double latest_lone_end(ProjectWindows& windows) {
  const Windows unbounded = windows.within(kInfinity);
  double latest = 0;
  for (int i = 0; i < windows.jobs(); ++i) {
    double least_time = kInfinity;
    for (const Mode& mode : windows.modes(i)) least_time = std::min(least_time, mode.time);
    latest = std::max(latest, unbounded.earliest_start[i] + least_time);
  }
  return latest;
}

}  // namespace

double above_refuted(const ProjectWindows& windows, double makespan) {
  return windows.has_integer_times() ? makespan + 1 : makespan;
}

double halfway(const ProjectWindows& windows, double low, double open) {
  const double middle = low + (open - low) / 2;
  return windows.has_integer_times() ? std::floor(middle) : middle;
}

bool is_gap_closed(const ProjectWindows& windows, double low, double open) {
  return windows.has_integer_times() ? low > open - 0.5 : low > open * (1 - kBoundGap);
}

void raise_by_windows(ProjectWindows& windows, double& low, double high, std::int64_t work) {
  low = std::max(low, latest_lone_end(windows));  // above 0, so that doubling leads somewhere
  windows.allow_work(work);
  const auto is_refuted = [&](double makespan) {
    Windows of_jobs = windows.within(makespan);
    return !windows.shrink(of_jobs, true);
  };
  double open = low;
  while (open < high && is_refuted(open)) {
    low = std::max(low, above_refuted(windows, open));
    open = std::min(2 * open, high);
  }
  while (!is_gap_closed(windows, low, open)) {
    const double middle = halfway(windows, low, open);
    if (is_refuted(middle))
      low = std::max(low, above_refuted(windows, middle));
    else
      open = middle;
  }
}

}  // namespace cosched::moldable::graph
