// Runs FCFS and EASY: backfilling.hpp has the rules.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/decision_log.hpp"

namespace cosched::cluster::batch {

/// On nodes that are all alike, in order of submission.  Requires rule fcfs or easy.
/// O(n (log n + log running)) for FCFS; see easy() for EASY.
SimulationOutcome run_fcfs_easy(const Instance& instance, BatchRule rule, Estimates estimates,
                                DecisionLog* log);

/// On the cells of a layout that fits the instance.  Requires rule fcfs or easy.
PlacedOutcome run_fcfs_easy(const Instance& instance, const Layout& layout, BatchRule rule,
                            const QueueOrder& order, Estimates estimates, DecisionLog* log);

/// On the nodes of a site that fits the instance.  Requires rule fcfs or easy.
SiteOutcome run_fcfs_easy(const Instance& instance, const Site& site, BatchRule rule,
                          const QueueOrder& order, Estimates estimates, DecisionLog* log);

}  // namespace cosched::cluster::batch
