// The check of a WindowsCertificate.  It shares no code with the solvers: windows, load heads and
// combined rows are worked out here again, in the plainest way.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// The bound that the certificate proves, checked from scratch: the greater of what `relaxation`
/// proves and `refutation.makespan`, rounded up to what an optimum can be where all times are
/// multiples of one (grain.hpp).  Throws SolverError where it proves nothing.  O(n Q + e +
/// n intervals) a stage and pruning, O(n (n + e)) for stages with `raise`.
double certified_bound(const Instance& instance, const proof::WindowsCertificate& certificate);

}  // namespace cosched::dags::check
