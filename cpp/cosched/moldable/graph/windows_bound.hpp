// A bound on the makespan by windows alone.
#pragma once

#include <cstdint>

#include "cosched/moldable/graph/project_windows.hpp"

namespace cosched::moldable::graph {

/// Of the makespan: how closely bounds are found where times are no integers.
inline constexpr double kBoundGap = 1e-6;

/// The longest makespan that windows refute, from `low` (a bound) on and at most `high`, by
/// bisection between one that they refute and one that they do not.  Where times and releases are
/// integers, only integer makespans are looked at; else it is found to a millionth.  A makespan for
/// which `work` does not suffice counts as not refuted.  May throw as check_interrupt():
/// `low` holds what is refuted so far.
void raise_by_windows(ProjectWindows& windows, double& low, double high, std::int64_t work);

/// Helpers of searches for the longest makespan that is refuted.
double above_refuted(const ProjectWindows& windows, double makespan);
double halfway(const ProjectWindows& windows, double low, double unrefuted_makespan);
bool is_gap_closed(const ProjectWindows& windows, double low, double unrefuted_makespan);

}  // namespace cosched::moldable::graph
