// The check of a proof of LP*: no solver's code.
#pragma once

#include "cosched/dags/hlp/certificate.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::check {

/// The bound that the certificate proves, checked from scratch: flow conserved, amounts
/// >= 0, sums right up to 1e-9 (a breach throws SolverError).  O(n Q + e).
double certified_bound(const Instance& instance, const hlp::Certificate& certificate);

}  // namespace cosched::dags::check
