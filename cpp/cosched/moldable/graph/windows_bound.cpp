#include "cosched/moldable/graph/windows_bound.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::moldable::graph {
namespace {

// The latest end of a job that runs alone from its release on.
double latest_lone_end(ProjectWindows& windows) {
  const Windows unbounded = windows.initial_windows(kInfinity);
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

double halfway(const ProjectWindows& windows, double low, double unrefuted_makespan) {
  const double middle = low + (unrefuted_makespan - low) / 2;
  return windows.has_integer_times() ? std::floor(middle) : middle;
}

bool is_gap_closed(const ProjectWindows& windows, double low, double unrefuted_makespan) {
  return windows.has_integer_times() ? low > unrefuted_makespan - 0.5
                                     : low > unrefuted_makespan * (1 - kBoundGap);
}

void raise_by_windows(ProjectWindows& windows, double& low, double high, std::int64_t work) {
  low = std::max(low, latest_lone_end(windows));  // above 0, so that doubling leads somewhere
  windows.allow_work(work);
  const auto is_refuted = [&](double makespan) {
    Windows windows_of_makespan = windows.initial_windows(makespan);
    return !windows.shrink(windows_of_makespan, true);
  };
  double unrefuted_makespan = low;
  while (unrefuted_makespan < high && is_refuted(unrefuted_makespan)) {
    low = std::max(low, above_refuted(windows, unrefuted_makespan));
    unrefuted_makespan = std::min(2 * unrefuted_makespan, high);
  }
  while (!is_gap_closed(windows, low, unrefuted_makespan)) {
    const double middle = halfway(windows, low, unrefuted_makespan);
    if (is_refuted(middle))
      low = std::max(low, above_refuted(windows, middle));
    else
      unrefuted_makespan = middle;
  }
}

}  // namespace cosched::moldable::graph
