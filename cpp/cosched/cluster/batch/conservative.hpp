// Runs conservative backfilling: backfilling.hpp has the rules.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/decision_log.hpp"

namespace cosched::cluster::batch {

/// On the cells of a layout that fits the instance.
PlacedOutcome run_conservative(const Instance& instance, const Layout& layout,
                               const QueueOrder& order, Estimates estimates, DecisionLog* log);

/// On the nodes of a site that fits the instance.
SiteOutcome run_conservative(const Instance& instance, const Site& site, const QueueOrder& order,
                             Estimates estimates, DecisionLog* log);

}  // namespace cosched::cluster::batch
