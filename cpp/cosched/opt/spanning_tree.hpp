// The rooted spanning tree of a network simplex.
#pragma once

#include <vector>

namespace cosched::opt {

/// Nodes 0..n-1, root 0.  Each other node has a parent and the arc that joins them.
/// Children are linked lists, subtree sizes are kept, so that cutting off a subtree and
/// hanging it elsewhere costs the length of the paths involved.
class SpanningTree {
 public:
  explicit SpanningTree(int nodes);

  int nodes() const { return static_cast<int>(up_.size()); }
  int parent(int node) const { return up_[node].parent; }  // -1: the root
  int arc(int node) const { return up_[node].arc; }        // to the parent
  int size(int node) const { return up_[node].size; }      // of the subtree
  int first_child(int node) const { return down_[node].first_child; }
  int next_sibling(int node) const { return down_[node].next_sibling; }

  /// First construction: hangs every node by (parent, arc), children before parents.
  void hang(int node, int parent, int arc);

  /// Nodes from the root, parents before children.  O(n) where the tree has changed since.
  const std::vector<int>& breadth_first();

  /// The smaller side of the cut above `top`; in_side tells which nodes it has, until the
  /// next call.
  const std::vector<int>& smaller_side(int top);
  bool side_is_subtree() const { return side_is_subtree_; }
  bool in_side(int node) const { return stamp_[node] == stamp_count_; }

  /// Cuts the subtree of `top` off and hangs it, turned so that its node `inside` is on top,
  /// below `outside` by `arc`.  `join`: the node where the paths up from `top` and from
  /// `outside` meet; sizes above it stay.
  void rehang(int top, int inside, int outside, int arc, int join);

 private:
  void attach(int child, int parent, int arc);
  void detach(int child);

  // What a walk up reads side by side, and what a walk down reads.
  struct Up {
    int parent = -1, arc = -1, previous_sibling = -1, size = 1;
  };
  struct Down {
    int first_child = -1, next_sibling = -1;
  };
  std::vector<Up> up_;
  std::vector<Down> down_;
  std::vector<int> order_, side_, stamp_, path_, path_arcs_;
  int stamp_count_ = 0;
  bool side_is_subtree_ = true;
};

// Values of the nodes of a spanning tree that move by whole subtrees.

/// The potentials of a network simplex.  The tree is cut into connected regions, each with an
/// offset that its nodes share: a subtree of s nodes moves by the offsets of the regions in it
/// and a walk through the one region that its top divides, about sqrt(n) steps instead of s.
/// (Moving node by node was two thirds of a primal simplex on 80,000 nodes.)
class TreePotentials {
 public:
  explicit TreePotentials(int nodes);

  double operator[](int node) const { return cells_[node].local + offset_[cells_[node].region]; }

  /// Takes over value[node] and divides the tree anew.  O(n).
  void assign(SpanningTree& tree, const std::vector<double>& value);

  /// Moves the subtree of `top` by `shift`, and the regions follow tree.rehang(top, inside,
  /// outside, ...): to be called before it.
  void rehang(SpanningTree& tree, int top, int inside, int outside, double shift);

 private:
  struct Cell {
    double local;
    int region;
  };
  // Where the tree goes on from one region to another, the child is an exit of the parent's
  // region; the exits of a region are a linked list.
  struct Exit {
    int next, previous;
  };

  void divide(SpanningTree& tree);
  bool collect_region_below(const SpanningTree& tree, int top);
  void join_region(int region, double shift);
  void found_region(const SpanningTree& tree);
  void shift_regions(int first, double shift);
  void turn_exits(const SpanningTree& tree, int top, int inside);
  void link_exit(int region, int node);
  void unlink_exit(int region, int node);

  std::vector<Cell> cells_;
  std::vector<Exit> exits_;
  std::vector<double> offset_;
  std::vector<int> first_exit_;  // of each region
  std::size_t most_regions_ = 0;
  std::vector<int> piece_, stack_, rest_;
};

}  // namespace cosched::opt
