// What conservative backfilling plans: who has which nodes, from when on.
#pragma once

namespace cosched::cluster::batch {

/// A planned start and the nodes of the job from then on.  `Share` says how nodes are described:
/// NodesPerCell (cell_profile.hpp) or Placement (site.hpp).
template <class Share>
struct PlannedSlot {
  double start;  // s
  Share share;
};

/// The nodes of a job that runs, until it is expected to end.
template <class Share>
struct RunningShare {
  double expected_end;  // s
  const Share* share;
};

}  // namespace cosched::cluster::batch
