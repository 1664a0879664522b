// What a job has, or would have, of what limits count (RULES.md 14.4).
#pragma once

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

struct Demand {
  Amounts tres;
  const NodeBits* nodes = nullptr;  // which, where that is known
};

/// Of a job on so many nodes that nobody knows yet.
Demand request_of(const Scenario& scenario, Entry entry, int nodes);
/// As it was submitted: the CPUs that it names.
Demand submitted_of(const Scenario& scenario, Entry entry);
/// On these, which must outlive what is returned.
Demand demand_of(const Scenario& scenario, Entry entry, const Choice& choice);

/// All that these nodes have; billing is none.
Amounts amounts_of(const Scenario& scenario, const NodeBits& nodes);
/// What a second of the job costs: billing times UsageFactor of its QOS.
double price_of(const Scenario& scenario, Entry entry, const Choice& choice);

}  // namespace cosched::slurm
