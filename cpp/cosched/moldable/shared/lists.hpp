// The family's list schedules for jobs that share the machine.
#pragma once

#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/shared/decoder.hpp"

namespace cosched::moldable::shared {

/// Each job alone on its fastest count that fits, by decreasing weight / time.
Placement gang(const Instance& instance);
/// Each job on the fewest processors on which it fits, the longest first.
Placement sequential(const Instance& instance);
/// The allotment and order of the dual approximation as if nothing were shared, on counts that fit, without bans.
Placement list_graham(const Instance& instance, dual::ListOrder order, double tolerance);

}  // namespace cosched::moldable::shared
