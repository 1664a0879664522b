// Node numbers for the outcome of a batch policy, which only counts nodes.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/instance.hpp"
#include "cosched/cluster/model/outcome.hpp"
#include "cosched/cluster/model/trace.hpp"

namespace cosched::cluster::batch {

/// A row a job, on the lowest-numbered nodes that are free at its start.
/// O(n log n + total tasks x log P).
Trace batch_trace(const Instance& instance, const Outcome& outcome);

/// The same, on nodes of the cells of its share.
Trace placed_trace(const Instance& instance, const Layout& layout, const PlacedOutcome& placed);

/// The same, on the cores of the nodes that each job has.
Trace site_trace(const Instance& instance, const Site& site, const SiteOutcome& placed);

}  // namespace cosched::cluster::batch
