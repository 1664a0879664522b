// Numbers that refer to others, looked at once.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// InvalidInstance where a number of the scenario refers to a node, partition, set, QOS, licence, association, job or
/// reservation that is not there, or a table by node has not a row for each.  The rooms above index by these numbers
/// without a look.  O(machine, jobs).
void require_references(const Scenario& scenario);

}  // namespace cosched::slurm
