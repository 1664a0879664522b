// A certificate of the work-and-path programme, checked from scratch.
#pragma once

#include "cosched/moldable/graph/certificate.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::check {

/// The bound on the makespan that it proves.  Throws SolverError that names the first breach: shapes, a negative number, a flow
/// that is not conserved, on no edge, or larger than its weight.  O(n m + e).
double certified_bound(const Instance& instance, const graph::Certificate& certificate);

}  // namespace cosched::moldable::check
