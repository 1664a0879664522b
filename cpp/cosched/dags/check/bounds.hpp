// The checks of what searches for bounds hand over: they share no code with the solvers.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// The bound that a proof of LP* proves, checked from scratch: flow conserved, amounts
/// >= 0, sums right up to 1e-9 (a breach throws SolverError).  O(n Q + e).
double certified_bound(const Instance& instance, const hlp::HlpCertificate& certificate);

/// The same of a WindowsCertificate: the greater of what `relaxation`
/// proves and `refutation.makespan`, rounded up to what an optimum can be where all times are
/// multiples of one (instance.hpp).  Throws SolverError where it proves nothing.  The refutation is
/// one of transfers that cost nothing.
double certified_bound(const Instance& instance, const proof::WindowsCertificate& certificate);

/// Of a refutation, with transfers or without, whether nothing is left of the makespan after the
/// stages, whose numbers and shapes are known to be right; windows, load heads and combined rows in
/// the plainest placement.
/// O(n Q + e Q^2 + n intervals) a stage (a guess, where it has such) and a round of pruning, with a
/// factor log(n) for joins; O(n (n + e)) for stages with load weights.
bool is_valid_refutation(const Instance& instance, const proof::TransferRefutation& refutation);

/// The same of a TransfersCertificate, without a solver.  Throws
/// SolverError where it proves nothing.  A proof for an instance holds for every instance whose
/// transfers cost no less.
double certified_bound(const Instance& instance, const proof::TransfersCertificate& certificate);

}  // namespace cosched::dags::check
