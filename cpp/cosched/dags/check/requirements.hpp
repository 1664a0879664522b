// What the independent validator (core/validate.hpp) checks a schedule of an instance against.
#pragma once

#include "cosched/core/validate.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::check {

// The check that data fits into the memories: by its own code, from the raw numbers.

/// Throws InvalidSchedule that names the first memory and time with more bytes than its capacity,
/// in the model of list/memory.hpp; ends of holds may pass by kValidateTolerance.  Requires a
/// schedule that has passed validate().  O(e log e).
void validate_memory(const Schedule& schedule, const Instance& instance);

Requirements requirements(const Instance& instance);

/// Seconds of an edge between two units, from the raw numbers alone.
std::function<double(int edge, int from_type, int from_unit, int to_type, int to_unit)>
transfer_seconds(const std::vector<int>& units, const std::vector<double>& data,
                 const Links& links);

}  // namespace cosched::dags::check
