#include "cosched/opt/spanning_tree.hpp"

namespace cosched::opt {

SpanningTree::SpanningTree(int nodes) : up_(nodes), down_(nodes), stamp_(nodes, 0) {}

void SpanningTree::attach(int child, int parent, int arc) {
  up_[child].parent = parent;
  up_[child].arc = arc;
  up_[child].previous_sibling = -1;
  down_[child].next_sibling = down_[parent].first_child;
  if (down_[parent].first_child >= 0) up_[down_[parent].first_child].previous_sibling = child;
  down_[parent].first_child = child;
}

void SpanningTree::detach(int child) {
  const int before = up_[child].previous_sibling, after = down_[child].next_sibling;
  if (after >= 0) up_[after].previous_sibling = before;
  (before >= 0 ? down_[before].next_sibling : down_[up_[child].parent].first_child) = after;
}

void SpanningTree::hang(int node, int parent, int arc) {
  order_.clear();
  attach(node, parent, arc);
  up_[parent].size += up_[node].size;
}

const std::vector<int>& SpanningTree::breadth_first() {
  if (order_.empty()) {
    order_.push_back(0);
    for (std::size_t k = 0; k < order_.size(); ++k)
      for (int child = down_[order_[k]].first_child; child >= 0; child = down_[child].next_sibling)
        order_.push_back(child);
  }
  return order_;
}

const std::vector<int>& SpanningTree::smaller_side(int top) {
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

void SpanningTree::rehang(int top, int inside, int outside, int arc, int join) {
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

}  // namespace cosched::opt
