// What conservative backfilling plans: who has which nodes, from when on.
#pragma once

namespace cosched::cluster::batch {

/// A planned start and the nodes of the job from then on.  `JobShare` says how nodes are described:
/// NodesPerCell (cell_profile.hpp) or NodePlacement (site.hpp).
template <class JobShare>
struct PlannedSlot {
  double start;  // s
  JobShare share;
};

/// The nodes of a job that runs, until it is expected to end.
template <class JobShare>
struct RunningShare {
  double expected_end;  // s
  const JobShare* share;
};

}  // namespace cosched::cluster::batch
