// Which numbered nodes each job had: batch policies themselves only count nodes.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/trace.hpp"

namespace cosched::cluster::batch {

/// One row for each job, on the lowest-numbered nodes that are free at its start.
/// O(n log n + total tasks log nodes).
Trace batch_trace(const Instance& instance, const SimulationOutcome& outcome);

/// The same, on nodes of the cells of the job's share.
Trace placed_trace(const Instance& instance, const Layout& layout, const PlacedOutcome& placed);

/// The same, on cores (the trace's "nodes") of the nodes on which the job was.
Trace site_trace(const Instance& instance, const Site& site, const SiteOutcome& placed);

}  // namespace cosched::cluster::batch
