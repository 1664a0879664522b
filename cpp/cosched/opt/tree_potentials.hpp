// Values of the nodes of a spanning tree that move by whole subtrees.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "cosched/opt/spanning_tree.hpp"

namespace cosched::opt {

/// The potentials of a network simplex.  The tree is cut into connected regions, each with an
/// offset that its nodes share: a subtree of s nodes moves by the offsets of the regions in it
/// and a walk through the one region that its top divides, about sqrt(n) steps instead of s.
/// (Moving node by node was two thirds of a primal simplex on 80,000 nodes.)
class TreePotentials {
 public:
  explicit TreePotentials(int nodes)
      : node_values_(nodes, {0, 0}), exits_(nodes, {-1, -1}), offset_(1, 0), first_exit_(1, -1) {}

  double operator[](int node) const {
    return node_values_[node].local + offset_[node_values_[node].region];
  }

  /// Takes over value[node] and divides the tree anew.  O(n).
  void assign(SpanningTree& tree, const std::vector<double>& value);

  /// Moves the subtree of `top` by `shift`, and the regions follow tree.rehang(top, inside,
  /// outside, ...): to be called before it.
  void rehang(SpanningTree& tree, int top, int inside, int outside, double shift);

 private:
  struct NodeValue {
    double local;
    int region;
  };
  // Where the tree goes on from one region to another, the child is an exit of the parent's
  // region; the exits of a region are a linked list.
  struct Exit {
    int next, previous;
  };

  void divide_into_regions(SpanningTree& tree);
  bool collect_region_below(const SpanningTree& tree, int top);
  void join_region(int region, double shift);
  void create_region(const SpanningTree& tree);
  void shift_regions(int first, double shift);
  void turn_exits(const SpanningTree& tree, int top, int inside);
  void link_exit(int region, int node);
  void unlink_exit(int region, int node);

  std::vector<NodeValue> node_values_;
  std::vector<Exit> exits_;           // of each node that is an exit
  std::vector<double> offset_;        // of each region
  std::vector<int> first_exit_;       // of each region
  std::size_t max_regions_ = 0;       // with more regions the tree is divided anew
  std::vector<int> region_part_;      // of the last collect_region_below()
  std::vector<int> stack_;            // scratch of shift_regions()
  std::vector<int> unassigned_size_;  // scratch of divide_into_regions()
};

}  // namespace cosched::opt
