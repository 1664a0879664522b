// Nodes that are kept for a job which does not fit.
#pragma once

namespace cosched::cluster::batch {

/// EASY's reservation, in numbers of nodes.  The *shadow time* is the earliest time at which enough
/// of the nodes that the job may use are expected to be free.  The nodes that are then free beyond
/// its own need are *extra*.
struct CellReservation {
  int rank;
  double shadow_time;
  int extra_nodes;
};

}  // namespace cosched::cluster::batch
