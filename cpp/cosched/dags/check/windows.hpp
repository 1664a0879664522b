// The check of a WindowsCertificate.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// The bound that the certificate proves, checked from scratch: the greater of what `relaxation`
/// proves and `refutation.makespan`, rounded up to what an optimum can be where all times are
/// multiples of one (grain.hpp).  Throws SolverError where it proves nothing.  The refutation is one of
/// transfers that cost nothing (refutation.hpp).
double certified_bound(const Instance& instance, const proof::WindowsCertificate& certificate);

}  // namespace cosched::dags::check
