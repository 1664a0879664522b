// optimal: a short search, then a proof.
#pragma once

#include "cosched/moldable/search/labels.hpp"

namespace cosched::moldable::search {

/// The best schedule of at most kMostProvedJobs jobs for one criterion: local_search() on a tenth of the
/// work and time, then prove() from what it found.  Deterministic but for a time limit.
Proof optimal(const Instance& instance, const ProofOptions& options = {});

}  // namespace cosched::moldable::search
