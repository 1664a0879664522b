// The check of a TransfersCertificate.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// The bound that the certificate proves, checked from scratch without a solver (refutation.hpp).  Throws
/// SolverError where it proves nothing.  A proof for an instance holds for every instance whose transfers
/// cost no less.
double certified_bound(const Instance& instance, const proof::TransfersCertificate& certificate);

}  // namespace cosched::dags::check
