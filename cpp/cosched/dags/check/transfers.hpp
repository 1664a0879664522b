// The check of a TransfersCertificate.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// The bound that the certificate proves, checked from scratch without a solver, by code that the
/// solvers do not share.  Throws SolverError where it proves nothing.  O(n Q + e Q^2 + n intervals) a
/// stage (a guess, where it has such) and a round of pruning, with a factor log(n) for joins;
/// O(n (n + e)) for stages with `raise`.  A proof for an instance holds for every instance whose
/// transfers cost no less.
double certified_bound(const Instance& instance, const proof::TransfersCertificate& certificate);

}  // namespace cosched::dags::check
