// The rules of a moldable schedule, checked by the independent validator.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/moldable/graph/certificate.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::check {

/// Each job once, on 1..m of the m processors for exactly t_i(q), not before its release, no
/// processor used twice at once.  Throws InvalidSchedule that names the first breach.
void validate(const Instance& instance, const Schedule& schedule);

// A certificate of the work-and-path programme, checked from scratch.

/// The bound on the makespan that it proves.  Throws SolverError that names the first breach:
/// shapes, a negative number, a flow that is not conserved, on no edge, or larger than its weight.
/// O(n m + e).
double certified_bound(const Instance& instance, const graph::WorkPathCertificate& certificate);

}  // namespace cosched::moldable::check
