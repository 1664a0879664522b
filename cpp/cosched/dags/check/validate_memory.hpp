// The check that data fits into the memories: by its own code, from the raw numbers.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::check {

/// Throws InvalidSchedule that names the first memory and time with more bytes than its capacity,
/// in the model of list/memory_insertion.hpp; ends of holds may pass by kValidateTolerance.
/// Requires a schedule that has passed validate().  O(e log e).
void validate_memory(const Schedule& schedule, const Instance& instance);

}  // namespace cosched::dags::check
