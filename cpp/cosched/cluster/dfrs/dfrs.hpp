// The DFRS policies of Casanova, Stillwell, Vivien 2011, sections 4.2 and 4.4 to 4.7.
#pragma once

#include "cosched/cluster/dfrs/policy_name.hpp"
#include "cosched/cluster/dfrs/simulator.hpp"

namespace cosched::cluster::dfrs {

/// simulate() with the policy of that name; MCB8-stretch takes the period of `options`.  Throws
/// InfeasibleError where a job can never fit in memory.
SimulationOutcome run_dfrs(const Instance& instance, const PolicyName& name,
                           const SimulationOptions& options = {}, Trace* trace = nullptr,
                           DecisionLog* log = nullptr);

}  // namespace cosched::cluster::dfrs
