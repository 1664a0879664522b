#include "cosched/opt/tree_potentials.hpp"

namespace cosched::opt {

void TreePotentials::assign(SpanningTree& tree, const std::vector<double>& value) {
  for (std::size_t node = 0; node < node_values_.size(); ++node)
    node_values_[node].local = value[node];
  divide_into_regions(tree);
}

void TreePotentials::rehang(SpanningTree& tree, int top, int inside, int outside, double shift) {
  if (offset_.size() > max_regions_) {  // each move may have left smaller ones behind
    for (NodeValue& cell : node_values_) cell.local += offset_[cell.region];
    divide_into_regions(tree);
  }
  const int above = node_values_[tree.parent(top)].region;
  if (node_values_[top].region == above) {
    if (collect_region_below(tree, top)) {
      join_region(node_values_[outside].region, shift);
      return;
    }
    create_region(tree);
  } else {
    unlink_exit(above, top);
  }
  shift_regions(node_values_[top].region, shift);
  turn_exits(tree, top, inside);
  link_exit(node_values_[outside].region, inside);
}

// From the leaves up: a subtree of sqrt(n) nodes that no region has yet becomes one.
void TreePotentials::divide_into_regions(SpanningTree& tree) {
  const std::vector<int>& order = tree.breadth_first();
  const int region_size = static_cast<int>(std::sqrt(static_cast<double>(order.size())));
  unassigned_size_.assign(order.size(), 1);
  for (std::size_t k = order.size(); --k > 0;)
    if (unassigned_size_[order[k]] < region_size)
      unassigned_size_[tree.parent(order[k])] += unassigned_size_[order[k]];
  offset_.assign(1, 0);
  first_exit_.assign(1, -1);
  node_values_[0].region = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    const int node = order[k], parent_region = node_values_[tree.parent(node)].region;
    if (unassigned_size_[node] < region_size) {
      node_values_[node].region = parent_region;
      continue;
    }
    node_values_[node].region = static_cast<int>(offset_.size());
    offset_.push_back(0);
    first_exit_.push_back(-1);
    link_exit(parent_region, node);
  }
  // Three times as many regions as now: then the division anew costs less than the moves before it.
  // The constant is for small trees.
  constexpr std::size_t kRegionGrowth = 3, kExtraRegions = 64;
  max_regions_ = kRegionGrowth * offset_.size() + kExtraRegions;
}

// Fills region_part_ with the nodes below `top` in its region; returns whether they are the whole
// subtree.
bool TreePotentials::collect_region_below(const SpanningTree& tree, int top) {
  const int region = node_values_[top].region;
  region_part_.assign(1, top);
  for (std::size_t k = 0; k < region_part_.size(); ++k)
    for (int child = tree.first_child(region_part_[k]); child >= 0;
         child = tree.next_sibling(child))
      if (node_values_[child].region == region) region_part_.push_back(child);
  return static_cast<int>(region_part_.size()) == tree.subtree_size(top);
}

void TreePotentials::join_region(int region, double shift) {
  shift += offset_[node_values_[region_part_[0]].region] - offset_[region];
  for (const int node : region_part_) {
    node_values_[node].local += shift;
    node_values_[node].region = region;
  }
}

// Makes region_part_ a region of its own.
void TreePotentials::create_region(const SpanningTree& tree) {
  const int old_region = node_values_[region_part_[0]].region,
            region = static_cast<int>(offset_.size());
  offset_.push_back(offset_[old_region]);
  first_exit_.push_back(-1);
  for (const int node : region_part_) node_values_[node].region = region;
  for (const int node : region_part_)
    for (int child = tree.first_child(node); child >= 0; child = tree.next_sibling(child))
      if (node_values_[child].region != region) {
        unlink_exit(old_region, child);
        link_exit(region, child);
      }
}

void TreePotentials::shift_regions(int first, double shift) {
  stack_.assign(1, first);
  while (!stack_.empty()) {
    const int region = stack_.back();
    stack_.pop_back();
    offset_[region] += shift;
    for (int node = first_exit_[region]; node >= 0; node = exits_[node].next)
      stack_.push_back(node_values_[node].region);
  }
}

// On the path from `inside` up to `top` parents and children change places.
void TreePotentials::turn_exits(const SpanningTree& tree, int top, int inside) {
  const auto crossings = [&](const auto& visit) {
    for (int node = inside; node != top; node = tree.parent(node)) {
      const int parent = tree.parent(node);
      if (node_values_[node].region != node_values_[parent].region) visit(node, parent);
    }
  };
  crossings([&](int node, int parent) { unlink_exit(node_values_[parent].region, node); });
  crossings([&](int node, int parent) { link_exit(node_values_[node].region, parent); });
}

void TreePotentials::link_exit(int region, int node) {
  const int after = first_exit_[region];
  exits_[node] = {after, -1};
  if (after >= 0) exits_[after].previous = node;
  first_exit_[region] = node;
}

void TreePotentials::unlink_exit(int region, int node) {
  const auto [next, previous] = exits_[node];
  if (next >= 0) exits_[next].previous = previous;
  (previous >= 0 ? exits_[previous].next : first_exit_[region]) = next;
}

}  // namespace cosched::opt
