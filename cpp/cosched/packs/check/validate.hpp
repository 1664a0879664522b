// The independent check of a co-schedule.  It shares no code with any solver.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::check {

/// The independent check: core's rules (each task once, its duration on its processors, no
/// processor twice at a time), and those of packs: tasks that overlap in time start together,
/// at most max_tasks of them.  Throws InvalidSchedule that names the first breach.
void validate(const Instance& instance, const Schedule& schedule);

}  // namespace cosched::packs::check
