// Fair-share factors as ranks (RULES.md 13.4): Fair Tree of priority/multifactor (fair_tree.c).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// The fair-share factor of each association, 0..1 (of accounts: 0).  `usage`: CPU seconds by
/// association.  Association 0 is the root; a parent comes before its children.  O(n log n).
///
/// Example: of two accounts with equal shares, a has used more than b.  The users of b have factors
/// above those of a: with one user each, 1 and 0.5.
std::vector<double> fair_tree(const std::vector<Association>& associations,
                              const std::vector<double>& usage);

}  // namespace cosched::slurm
