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
  explicit SpanningTree(int nodes) : up_(nodes), down_(nodes), stamp_(nodes, 0) {}

  int nodes() const { return static_cast<int>(up_.size()); }
  int parent(int node) const { return up_[node].parent; }  // -1: the root
  int arc(int node) const { return up_[node].arc; }        // to the parent
  int size(int node) const { return up_[node].size; }      // of the subtree
  int first_child(int node) const { return down_[node].first_child; }
  int next_sibling(int node) const { return down_[node].next_sibling; }

  /// First construction: hangs every node by (parent, arc), children before parents.
  void hang(int node, int parent, int arc) {
    order_.clear();
    attach(node, parent, arc);
    up_[parent].size += up_[node].size;
  }

  /// Nodes from the root, parents before children.  O(n) where the tree has changed since.
  const std::vector<int>& breadth_first() {
    if (order_.empty()) {
      order_.push_back(0);
      for (std::size_t k = 0; k < order_.size(); ++k)
        for (int child = down_[order_[k]].first_child; child >= 0;
             child = down_[child].next_sibling)
          order_.push_back(child);
    }
    return order_;
  }

  /// The smaller side of the cut above `top`; in_side tells which nodes it has, until the
  /// next call.
  const std::vector<int>& smaller_side(int top) {
    side_is_subtree_ = 2 * up_[top].size <= nodes();
    ++stamp_count_;
    side_.assign(1, side_is_subtree_ ? top : 0);
    stamp_[side_[0]] = stamp_count_;
    for (std::size_t k = 0; k < side_.size(); ++k)
      for (int child = down_[side_[k]].first_child; child >= 0; child = down_[child].next_sibling) {
        if (!side_is_subtree_ && child == top) continue;
        stamp_[child] = stamp_count_;
        side_.push_back(child);
      }
    return side_;
  }

  bool side_is_subtree() const { return side_is_subtree_; }
  bool in_side(int node) const { return stamp_[node] == stamp_count_; }

  /// Cuts the subtree of `top` off and hangs it, turned so that its node `inside` is on top,
  /// below `outside` by `arc`.  `join`: the node where the paths up from `top` and from
  /// `outside` meet; sizes above it stay.
  void rehang(int top, int inside, int outside, int arc, int join) {
    order_.clear();
    const int subtree_size = up_[top].size;
    for (int node = up_[top].parent; node != join; node = up_[node].parent)
      up_[node].size -= subtree_size;
    path_.clear();  // from the new top up to the old one
    for (int node = inside;; node = up_[node].parent) {
      path_.push_back(node);
      if (node == top) break;
    }
    detach(top);
    path_arcs_.resize(path_.size());
    for (std::size_t k = path_.size() - 1; k > 0; --k) {
      const int node = path_[k], child = path_[k - 1];
      path_arcs_[k] = up_[child].arc;
      detach(child);
      up_[node].size -= up_[child].size;
    }
    for (std::size_t k = path_.size() - 1; k > 0; --k) {
      attach(path_[k], path_[k - 1], path_arcs_[k]);
      up_[path_[k - 1]].size += up_[path_[k]].size;
    }
    attach(inside, outside, arc);
    for (int node = outside; node != join; node = up_[node].parent) up_[node].size += subtree_size;
  }

 private:
  void attach(int child, int parent, int arc) {
    up_[child].parent = parent;
    up_[child].arc = arc;
    up_[child].previous_sibling = -1;
    down_[child].next_sibling = down_[parent].first_child;
    if (down_[parent].first_child >= 0) up_[down_[parent].first_child].previous_sibling = child;
    down_[parent].first_child = child;
  }

  void detach(int child) {
    const int before = up_[child].previous_sibling, after = down_[child].next_sibling;
    if (after >= 0) up_[after].previous_sibling = before;
    (before >= 0 ? down_[before].next_sibling : down_[up_[child].parent].first_child) = after;
  }

  // What a walk up reads side by side, and what a walk down reads.
  struct Up {
    int parent = -1, arc = -1, previous_sibling = -1, size = 1;
  };
  struct Down {
    int first_child = -1, next_sibling = -1;
  };
  std::vector<Up> up_;
  std::vector<Down> down_;
  std::vector<int> order_, side_, path_, path_arcs_;
  std::vector<std::int64_t> stamp_;
  std::int64_t stamp_count_ = 0;
  bool side_is_subtree_ = true;
};

// Values of the nodes of a spanning tree that move by whole subtrees.

/// The potentials of a network simplex.  The tree is cut into connected regions, each with an
/// offset that its nodes share: a subtree of s nodes moves by the offsets of the regions in it
/// and a walk through the one region that its top divides, about sqrt(n) steps instead of s.
/// (Moving node by node was two thirds of a primal simplex on 80,000 nodes.)
class TreePotentials {
 public:
  explicit TreePotentials(int nodes)
      : cells_(nodes, {0, 0}), exits_(nodes, {-1, -1}), offset_(1, 0), first_exit_(1, -1) {}

  double operator[](int node) const { return cells_[node].local + offset_[cells_[node].region]; }

  /// Takes over value[node] and divides the tree anew.  O(n).
  void assign(SpanningTree& tree, const std::vector<double>& value) {
    for (std::size_t node = 0; node < cells_.size(); ++node) cells_[node].local = value[node];
    divide(tree);
  }

  /// Moves the subtree of `top` by `shift`, and the regions follow tree.rehang(top, inside,
  /// outside, ...): to be called before it.
  void rehang(SpanningTree& tree, int top, int inside, int outside, double shift) {
    if (offset_.size() > most_regions_) {  // each move may have left smaller ones behind
      for (Cell& cell : cells_) cell.local += offset_[cell.region];
      divide(tree);
    }
    const int above = cells_[tree.parent(top)].region;
    if (cells_[top].region == above) {
      if (collect_region_below(tree, top)) {
        join_region(cells_[outside].region, shift);
        return;
      }
      found_region(tree);
    } else {
      unlink_exit(above, top);
    }
    shift_regions(cells_[top].region, shift);
    turn_exits(tree, top, inside);
    link_exit(cells_[outside].region, inside);
  }

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

  // From the leaves up: a subtree of sqrt(n) nodes that no region has yet becomes one.
  void divide(SpanningTree& tree) {
    const std::vector<int>& order = tree.breadth_first();
    const int enough = static_cast<int>(std::sqrt(static_cast<double>(order.size())));
    rest_.assign(order.size(), 1);
    for (std::size_t k = order.size(); --k > 0;)
      if (rest_[order[k]] < enough) rest_[tree.parent(order[k])] += rest_[order[k]];
    offset_.assign(1, 0);
    first_exit_.assign(1, -1);
    cells_[0].region = 0;
    for (std::size_t k = 1; k < order.size(); ++k) {
      const int node = order[k], above = cells_[tree.parent(node)].region;
      if (rest_[node] < enough) {
        cells_[node].region = above;
        continue;
      }
      cells_[node].region = static_cast<int>(offset_.size());
      offset_.push_back(0);
      first_exit_.push_back(-1);
      link_exit(above, node);
    }
    most_regions_ = 3 * offset_.size() + 64;
  }

  // Fills piece_ with the nodes below `top` in its region; whether that is the whole subtree.
  bool collect_region_below(const SpanningTree& tree, int top) {
    const int region = cells_[top].region;
    piece_.assign(1, top);
    for (std::size_t k = 0; k < piece_.size(); ++k)
      for (int child = tree.first_child(piece_[k]); child >= 0; child = tree.next_sibling(child))
        if (cells_[child].region == region) piece_.push_back(child);
    return static_cast<int>(piece_.size()) == tree.size(top);
  }

  void join_region(int region, double shift) {
    shift += offset_[cells_[piece_[0]].region] - offset_[region];
    for (const int node : piece_) {
      cells_[node].local += shift;
      cells_[node].region = region;
    }
  }

  // piece_ becomes a region of its own.
  void found_region(const SpanningTree& tree) {
    const int old = cells_[piece_[0]].region, region = static_cast<int>(offset_.size());
    offset_.push_back(offset_[old]);
    first_exit_.push_back(-1);
    for (const int node : piece_) cells_[node].region = region;
    for (const int node : piece_)
      for (int child = tree.first_child(node); child >= 0; child = tree.next_sibling(child))
        if (cells_[child].region != region) {
          unlink_exit(old, child);
          link_exit(region, child);
        }
  }

  void shift_regions(int first, double shift) {
    stack_.assign(1, first);
    while (!stack_.empty()) {
      const int region = stack_.back();
      stack_.pop_back();
      offset_[region] += shift;
      for (int node = first_exit_[region]; node >= 0; node = exits_[node].next)
        stack_.push_back(cells_[node].region);
    }
  }

  // On the path from `inside` up to `top` parents and children change places.
  void turn_exits(const SpanningTree& tree, int top, int inside) {
    const auto crossings = [&](const auto& visit) {
      for (int node = inside; node != top; node = tree.parent(node)) {
        const int parent = tree.parent(node);
        if (cells_[node].region != cells_[parent].region) visit(node, parent);
      }
    };
    crossings([&](int node, int parent) { unlink_exit(cells_[parent].region, node); });
    crossings([&](int node, int parent) { link_exit(cells_[node].region, parent); });
  }

  void link_exit(int region, int node) {
    const int after = first_exit_[region];
    exits_[node] = {after, -1};
    if (after >= 0) exits_[after].previous = node;
    first_exit_[region] = node;
  }

  void unlink_exit(int region, int node) {
    const auto [next, previous] = exits_[node];
    if (next >= 0) exits_[next].previous = previous;
    (previous >= 0 ? exits_[previous].next : first_exit_[region]) = next;
  }

  std::vector<Cell> cells_;
  std::vector<Exit> exits_;
  std::vector<double> offset_;
  std::vector<int> first_exit_;  // of each region
  std::size_t most_regions_ = 0;
  std::vector<int> piece_, stack_, rest_;
};

}  // namespace cosched::opt
