#include "cosched/opt/flow_tree.hpp"

#include <algorithm>

#include "cosched/core/assert.hpp"

namespace cosched::opt {

FlowTree::FlowTree(int number_of_nodes, std::vector<LengthArc> length_arcs,
                   std::vector<char> is_uncapacitated)
    : node_count(number_of_nodes),
      arc_count(static_cast<int>(length_arcs.size())),
      arcs(std::move(length_arcs)),
      uncapacitated(std::move(is_uncapacitated)),
      tree(number_of_nodes),
      potential(number_of_nodes) {
  COSCHED_ASSERT(std::all_of(arcs.begin(), arcs.end(),
                             [](const LengthArc& arc) { return arc.from < arc.to; }));
  leaving.build_lists(node_count, arcs, true, nullptr);
  entering.build_lists(node_count, arcs, false, nullptr);
  leaving_capacitated.build_lists(node_count, arcs, true, &uncapacitated);
  entering_capacitated.build_lists(node_count, arcs, false, &uncapacitated);
  for (int a = 0; a < arc_count; ++a)
    if (!uncapacitated[a]) capacitated.push_back(a);
  // Reduced lengths up to this part of the longest path are rounding errors.  No path is longer
  // than the sum over the nodes of the longest arc into each.
  constexpr double kLengthTolerance = 1e-13;
  for (int node = 0; node < node_count; ++node) {
    double longest = 0;
    for (const IncidentArc& in : entering.arcs_at(node)) longest = std::max(longest, in.length);
    length_tolerance += kLengthTolerance * longest;
  }
  capacity.assign(arcs.size(), kInfinity);
  flow.assign(arcs.size(), 0);
  state.assign(arcs.size(), ArcState::lower);
  is_listed.assign(arcs.size(), 0);
  distance.assign(node_count, 0);
  balance.assign(node_count, 0);
}

// Builds the longest-path tree of the uncapacitated arcs: with the whole demand on its path to the
// last node it is a feasible start whatever the capacities.
void FlowTree::build_first_tree() {
  std::vector<int> best(node_count, -1);
  for (int node = 1; node < node_count; ++node) {
    double longest = -kInfinity;
    for (const IncidentArc& in : entering.arcs_at(node)) {
      const double length = distance[in.other] + in.length;
      if (uncapacitated[in.arc] && length > longest) {
        longest = length;
        best[node] = in.arc;
      }
    }
    distance[node] = longest;
  }
  for (int node = node_count - 1; node > 0; --node) {
    tree.attach_subtree(node, arcs[best[node]].from, best[node]);
    state[best[node]] = ArcState::tree;
  }
  has_tree = true;
}

void FlowTree::recompute_potentials() {
  const std::vector<int>& order = tree.breadth_first();
  distance[0] = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    const LengthArc& arc = arcs[tree.arc(order[k])];
    distance[order[k]] =
        arc.to == order[k] ? distance[arc.from] + arc.length : distance[arc.to] - arc.length;
  }
  potential.assign(tree, distance);
}

// Flows of the tree arcs from those beside the tree, and the list of violated ones.
void FlowTree::recompute_flows() {
  std::fill(balance.begin(), balance.end(), 0.0);
  balance[0] = demand;
  balance[node_count - 1] -= demand;
  for (const int a : capacitated) {
    if (state[a] != ArcState::upper) continue;
    balance[arcs[a].from] -= flow[a];
    balance[arcs[a].to] += flow[a];
  }
  for (const int arc : violated_arcs) is_listed[arc] = 0;
  violated_arcs.clear();
  const std::vector<int>& order = tree.breadth_first();
  for (std::size_t k = order.size(); --k > 0;) {
    const int node = order[k], arc = tree.arc(node);
    flow[arc] = arcs[arc].from == node ? balance[node] : -balance[node];
    balance[tree.parent(node)] += balance[node];
    list_if_violated(arc);
  }
}

void FlowTree::list_if_violated(int arc) {
  if (is_listed[arc] || violation(arc) <= tolerance) return;
  is_listed[arc] = 1;
  violated_arcs.push_back(arc);
}

}  // namespace cosched::opt
