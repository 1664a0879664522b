#include "cosched/opt/spanning_tree.hpp"

namespace cosched::opt {

void SpanningTree::attach_subtree(int node, int parent, int arc) {
  order_.clear();
  attach(node, parent, arc);
  parent_link_[parent].size += parent_link_[node].size;
}

const std::vector<int>& SpanningTree::breadth_first() {
  if (order_.empty()) {
    order_.push_back(0);
    for (std::size_t k = 0; k < order_.size(); ++k)
      for (int child = child_links_[order_[k]].first_child; child >= 0;
           child = child_links_[child].next_sibling)
        order_.push_back(child);
  }
  return order_;
}

const std::vector<int>& SpanningTree::smaller_side(int top) {
  side_is_subtree_ = 2 * parent_link_[top].size <= nodes();
  ++stamp_count_;
  side_.assign(1, side_is_subtree_ ? top : 0);
  stamp_[side_[0]] = stamp_count_;
  for (std::size_t k = 0; k < side_.size(); ++k)
    for (int child = child_links_[side_[k]].first_child; child >= 0;
         child = child_links_[child].next_sibling) {
      if (!side_is_subtree_ && child == top) continue;
      stamp_[child] = stamp_count_;
      side_.push_back(child);
    }
  return side_;
}

void SpanningTree::rehang(int top, int inside, int outside, int arc, int join) {
  order_.clear();
  const int subtree_size = parent_link_[top].size;
  for (int node = parent_link_[top].parent; node != join; node = parent_link_[node].parent)
    parent_link_[node].size -= subtree_size;
  path_.clear();  // from the new top up to the old one
  for (int node = inside;; node = parent_link_[node].parent) {
    path_.push_back(node);
    if (node == top) break;
  }
  detach(top);
  path_arcs_.resize(path_.size());
  for (std::size_t k = path_.size() - 1; k > 0; --k) {
    const int node = path_[k], child = path_[k - 1];
    path_arcs_[k] = parent_link_[child].arc;
    detach(child);
    parent_link_[node].size -= parent_link_[child].size;
  }
  for (std::size_t k = path_.size() - 1; k > 0; --k) {
    attach(path_[k], path_[k - 1], path_arcs_[k]);
    parent_link_[path_[k - 1]].size += parent_link_[path_[k]].size;
  }
  attach(inside, outside, arc);
  for (int node = outside; node != join; node = parent_link_[node].parent)
    parent_link_[node].size += subtree_size;
}

void SpanningTree::attach(int child, int parent, int arc) {
  parent_link_[child].parent = parent;
  parent_link_[child].arc = arc;
  parent_link_[child].previous_sibling = -1;
  child_links_[child].next_sibling = child_links_[parent].first_child;
  if (child_links_[parent].first_child >= 0)
    parent_link_[child_links_[parent].first_child].previous_sibling = child;
  child_links_[parent].first_child = child;
}

void SpanningTree::detach(int child) {
  const int before = parent_link_[child].previous_sibling, after = child_links_[child].next_sibling;
  if (after >= 0) parent_link_[after].previous_sibling = before;
  (before >= 0 ? child_links_[before].next_sibling
               : child_links_[parent_link_[child].parent].first_child) = after;
}

}  // namespace cosched::opt
