// The shortest schedule of few jobs with precedence or resources, proved.
#pragma once

#include "cosched/moldable/search/proof.hpp"

namespace cosched::moldable::search {

/// Jobs that graph_proof() takes.
inline constexpr int kMostGraphJobs = 12;

/// graph_search() on a little of the work, then branch and bound over jobs in the order of their
/// starts, each at its earliest fit that is not before the last start (some optimal schedule is one
/// of these).  Where work or time is over, `bound` is the programme's.  Exponential.  Throws
/// InvalidInstance above kMostGraphJobs, and as require_graph_known().
Proof graph_proof(const Instance& instance, const ProofOptions& options);

}  // namespace cosched::moldable::search
