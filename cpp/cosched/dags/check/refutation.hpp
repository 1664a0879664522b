// The check of a refutation, with transfers or without: windows, load heads and combined rows are worked
// out in the plainest way.  It shares no code with the solvers.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// Whether nothing is left of the makespan after the stages, whose numbers and shapes are known to be right.
/// O(n Q + e Q^2 + n intervals) a stage (a guess, where it has such) and a round of pruning, with a factor
/// log(n) for joins; O(n (n + e)) for stages with `raise`.
bool refutes(const Instance& instance, const proof::TransferRefutation& refutation);

}  // namespace cosched::dags::check
