// The main scheduler's pass: jobs in order of the queue, now, until one of a partition does not fit
// (RULES.md 2.4 to 2.6).
#pragma once

#include "cosched/slurm/state/controller_state.hpp"
#include "cosched/slurm/trace/trace_sink.hpp"

namespace cosched::slurm {

/// Makes a pass (`_schedule` of job_scheduler.c); returns the jobs that it started.  `is_full`: it
/// tries more than default_queue_depth jobs.  `trace_sink` gets the trace of the pass if it wants
/// it; may be null.
std::vector<int> main_pass(ControllerState& controller, Select& select, double time, bool is_full,
                           TraceSink* trace_sink = nullptr);

}  // namespace cosched::slurm
