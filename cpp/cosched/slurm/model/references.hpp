// Checks the numbers of a scenario that refer to something, once.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// Throws InvalidInstance where a number of the scenario refers to a node, partition, set, QOS,
/// licence, association, job or reservation that does not exist, or a table by node has not a row
/// for each.  All other folders index by these numbers unchecked.  O(machine, jobs).
void require_references(const Scenario& scenario);

}  // namespace cosched::slurm
