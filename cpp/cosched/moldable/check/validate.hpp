// The rules of a moldable schedule, checked by the independent validator.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::check {

/// Each job once, on 1..m of the m processors for exactly t_i(q), not before its release, no
/// processor used twice at once.  Throws InvalidSchedule that names the first breach.
void validate(const Instance& instance, const Schedule& schedule);

}  // namespace cosched::moldable::check
