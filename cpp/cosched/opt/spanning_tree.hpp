// The rooted spanning tree of a network simplex.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace cosched::opt {

/// Nodes 0..n-1, root 0.  Each other node has a parent and the arc that joins them.
/// Children are linked lists, subtree sizes are kept, so that cutting off a subtree and
/// hanging it elsewhere costs the length of the paths involved.
class SpanningTree {
 public:
  explicit SpanningTree(int nodes) : parent_link_(nodes), child_links_(nodes), stamp_(nodes, 0) {}

  int nodes() const { return static_cast<int>(parent_link_.size()); }
  int parent(int node) const { return parent_link_[node].parent; }      // -1: the root
  int arc(int node) const { return parent_link_[node].arc; }            // to the parent
  int subtree_size(int node) const { return parent_link_[node].size; }  // of the subtree
  int first_child(int node) const { return child_links_[node].first_child; }
  int next_sibling(int node) const { return child_links_[node].next_sibling; }

  /// First construction: hangs every node by (parent, arc), children before parents.
  void attach_subtree(int node, int parent, int arc);

  /// Nodes from the root, parents before children.  O(n) where the tree has changed since.
  const std::vector<int>& breadth_first();

  /// The nodes of the smaller side of the cut above `top`: the subtree of `top`, or the rest of the
  /// tree (side_is_subtree).  is_in_side() tells which nodes it has, until the next call.
  const std::vector<int>& smaller_side(int top);

  bool side_is_subtree() const { return side_is_subtree_; }
  bool is_in_side(int node) const { return stamp_[node] == stamp_count_; }

  /// Cuts the subtree of `top` off and hangs it, turned so that its node `inside` is on top,
  /// below `outside` by `arc`.  `join`: the node where the paths up from `top` and from
  /// `outside` meet; sizes above it stay.
  void rehang(int top, int inside, int outside, int arc, int join);

 private:
  void attach(int child, int parent, int arc);
  void detach(int child);

  // What a walk up reads side by side, and what a walk down reads.
  struct ParentLink {
    int parent = -1, arc = -1, previous_sibling = -1, size = 1;
  };
  struct ChildLinks {
    int first_child = -1, next_sibling = -1;
  };
  std::vector<ParentLink> parent_link_;
  std::vector<ChildLinks> child_links_;
  std::vector<int> order_;             // of breadth_first(); empty: the tree has changed
  std::vector<int> side_;              // of the last smaller_side()
  std::vector<std::int64_t> stamp_;    // of each node: the last smaller_side() that had it
  std::int64_t stamp_count_ = 0;       // calls of smaller_side()
  std::vector<int> path_, path_arcs_;  // scratch of rehang(): the nodes that are turned, with arcs
  bool side_is_subtree_ = true;
};

}  // namespace cosched::opt
