// The priority of a pending job (RULES.md 1.3 to 1.7, 13.5).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// Of a job whose age is so many seconds; `before`: how many were submitted before it; `fair_share`: the factor of its association;
/// `tested`: nodes have been looked for, so that all their CPUs are known to be its own.
double priority_of(const Scenario& scenario, int job, double age, int before, double fair_share = 0,
                   bool tested = false);

/// Whether priorities change while jobs wait.
bool priorities_age(const Settings::Priority& settings);

}  // namespace cosched::slurm
