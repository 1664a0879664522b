// optimal: a short search, then a proof.
#pragma once

#include "cosched/moldable/search/proof.hpp"

namespace cosched::moldable::search {

/// The best schedule of at most kMostProvedJobs jobs for one criterion: local_search() on a little
/// of the work, then prove() from what it found; where that runs out of memory local_search()
/// again, with the remaining work.  With precedence or resources it is graph_proof()
/// (graph_proof.hpp). Deterministic, unless there is a time limit.
ProofResult optimal(const Instance& instance, const ProofOptions& options = {});

}  // namespace cosched::moldable::search
