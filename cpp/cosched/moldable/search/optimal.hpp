// optimal: a short search, then a proof.
#pragma once

#include "cosched/moldable/search/proof.hpp"

namespace cosched::moldable::search {

/// The best schedule of at most kMostProvedJobs jobs for one criterion: local_search() on a little of the
/// work and a tenth of the time, then prove() from what it found; where that has no room to go on local_search() again, with
/// what is left.  With edges or resources it is graph_proof() (graph_proof.hpp), for the makespan.
/// Deterministic but for a time limit.
Proof optimal(const Instance& instance, const ProofOptions& options = {});

}  // namespace cosched::moldable::search
