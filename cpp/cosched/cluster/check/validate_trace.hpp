// Checks a recorded trace.
#pragma once

#include "cosched/cluster/check/schedule_checker.hpp"

namespace cosched::cluster::check {

/// Feeds the rows to a ScheduleChecker in order of time, and checks that progress is 0
/// during penalties and the yield otherwise.  Throws InvalidSchedule that names the first
/// breach.  O(r log r + total tasks of the rows).
void validate_trace(const Instance& instance, const TraceView& trace,
                    const SimulationOutcome& outcome, const TraceRules& rules);

}  // namespace cosched::cluster::check
