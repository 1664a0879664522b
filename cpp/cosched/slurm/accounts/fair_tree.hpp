// Fair share as a rank: Fair Tree of priority/multifactor (RULES.md 13.4).
#pragma once

#include <vector>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// The factor of each association, 0..1 (of accounts: 0), for its usage so far.  Association 0 is
/// the root; a parent comes before its children.  O(n log n).
std::vector<double> fair_tree(const std::vector<Association>& all,
                              const std::vector<double>& usage);

}  // namespace cosched::slurm
