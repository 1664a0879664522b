// How many parts of a need fit on the nodes, kept up to date as the nodes change.
#pragma once

#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// Answers Site::has_room_for in O(1) while the free amounts change node by node.  Keeps references
/// to the site and to the need.
class NeedTally {
 public:
  /// O(nodes).
  NeedTally(const Site& site, const Need& need, const FreeAmounts& free);

  /// Whether the need fits into the free amounts.  O(1).
  bool has_room() const;
  /// The free amounts of the node have changed.  O(1).
  void update(int node, const ResourceAmounts& before, const ResourceAmounts& after) {
    add_node(node, before, -1);
    add_node(node, after, +1);
  }

 private:
  // Counts the node with these free amounts (sign +1), or no longer counts it (sign -1).
  void add_node(int node, const ResourceAmounts& free, int sign);

  const Site& site_;
  const Need& need_;
  int part_nodes_ = 0;          // nodes that hold a part
  int larger_part_nodes_ = 0;   // nodes that hold a larger part
  ResourceAmounts total_free_;  // of all nodes, for a need whose distribution is not known
};

}  // namespace cosched::cluster::batch
