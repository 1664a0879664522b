// The TRES of a job that limits, usage and priorities count (RULES.md 14.4).
#pragma once

#include "cosched/slurm/select/node_choice.hpp"

namespace cosched::slurm {

/// The TRES of a job, and its nodes where they are known.
struct Demand {
  Amounts tres;
  const NodeBits* nodes = nullptr;
};

/// The demand of a job on so many nodes that are not chosen yet.
Demand requested_demand(const Scenario& scenario, QueueEntry entry, int node_count);
/// The demand as it was submitted: the CPUs are those that the job asks for.
Demand submitted_demand(const Scenario& scenario, QueueEntry entry);
/// The demand on chosen nodes.  Requires that `choice` outlives it.
Demand allocated_demand(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice);

/// All TRES of these nodes; billing is 0.
Amounts tres_of_nodes(const Scenario& scenario, const NodeBits& nodes);
/// The usage that a second of the job adds: its billing TRES times UsageFactor of its QOS.
double usage_per_second(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice);

}  // namespace cosched::slurm
