// The priority of a pending job (RULES.md 1.3 to 1.7, 13.5).
#pragma once

#include "cosched/cluster/slurm/scenario.hpp"

namespace cosched::cluster::slurm {

/// Of a job at a time; `before`: how many were submitted before it; `fair_share`: the factor of its association.
double priority_of(const Scenario& scenario, int job, double time, int before,
                   double fair_share = 0);

/// Whether priorities change while jobs wait.
bool priorities_age(const Settings::Priority& settings);

}  // namespace cosched::cluster::slurm
