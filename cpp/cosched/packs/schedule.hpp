// A co-schedule as placements on numbered processors, and the check of its pack structure.
#pragma once

#include <vector>

#include "cosched/core/schedule.hpp"
#include "cosched/packs/instance.hpp"

namespace cosched::packs {

/// Packs one after the other, in increasing cost, ties by pack number (the order that the
/// mean response time assumes).  Within a pack, tasks take processors in task order.
/// Requires pack_of and procs of length n; throws InvalidInstance otherwise.
Schedule to_schedule(const Instance& instance, const std::vector<int>& pack_of,
                     const std::vector<int>& procs);

/// The independent check: core's rules (each task once, its duration on its processors, no
/// processor twice at a time), and those of packs: tasks that overlap in time start together,
/// at most max_tasks of them.  Throws InvalidSchedule that names the first breach.
void validate(const Instance& instance, const Schedule& schedule);

}  // namespace cosched::packs
