#include "cosched/opt/dual_pivots.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::opt {
namespace {

// Adds to the flow of an arc outside the tree and around its cycle; `amount` may be negative.
// Returns the join: the node of the cycle that is nearest to the root.
int push_flow(FlowTree& net, int arc, double amount) {
  net.flow[arc] += amount;
  int u = net.arcs[arc].from, v = net.arcs[arc].to;
  while (u != v) {
    const bool from_u = net.tree.subtree_size(u) < net.tree.subtree_size(v);
    int& node = from_u ? u : v;
    const int tree = net.tree.arc(node);
    net.flow[tree] += (net.arcs[tree].from == node) != from_u ? amount : -amount;
    net.list_if_violated(tree);
    node = net.tree.parent(node);
  }
  return u;
}

}  // namespace

void DualPivots::pivot_to_feasibility(FlowTree& net) {
  int leaving = choose_violated(net);
  while (leaving >= 0) {
    pivot(net, leaving);
    net.count_pivot();
    leaving = choose_violated(net);
  }
}

// The best of a block of violated arcs, the next block at the next call; -1: none is violated.  The
// square of the violation over the size of the cut's smaller side stands in for steepest edge.
int DualPivots::choose_violated(FlowTree& net) {
  constexpr std::size_t kBlock = 100;  // a look at an arc is cheap beside the scan of its cut
  int best = -1;
  double highest = 0;
  for (std::size_t scanned = 0; scanned < kBlock && scanned < net.violated_arcs.size();) {
    if (next_violated_ >= net.violated_arcs.size()) next_violated_ = 0;
    const int arc = net.violated_arcs[next_violated_];
    const double violation = net.state[arc] == FlowTree::ArcState::tree ? net.violation(arc) : 0;
    if (violation <= net.tolerance) {
      net.is_listed[arc] = 0;
      net.violated_arcs[next_violated_] = net.violated_arcs.back();
      net.violated_arcs.pop_back();
      continue;
    }
    const int size = net.tree.subtree_size(net.lower_end(arc));
    const double score = violation * violation / std::min(size, net.node_count - size);
    if (score > highest) {
      highest = score;
      best = arc;
    }
    ++scanned;
    ++next_violated_;
  }
  return best;
}

// Fills entering_candidates_ with the arcs through which the nodes of one side of the cut could
// export (or import) more.  Arcs that come after one that can take the whole amount are of no use.
void DualPivots::find_entering_candidates(const FlowTree& net, const std::vector<int>& side,
                                          bool exporting, double amount) {
  entering_candidates_.clear();
  double limit = kInfinity;  // the least ratio of an arc that can take the whole amount
  // More through an arc at its lower bound in that direction, less through one at its upper
  // bound against it; only arcs with a capacity can be there.
  const FlowTree::IncidenceLists& increasing = exporting ? net.leaving : net.entering;
  const FlowTree::IncidenceLists& decreasing =
      exporting ? net.entering_capacitated : net.leaving_capacitated;
  const double sign = exporting ? 1 : -1;
  const auto offer = [&](const FlowTree::IncidentArc& incident, double ratio,
                         FlowTree::ArcState state) {
    if (ratio > limit || net.state[incident.arc] != state) return;
    const double capacity = net.capacity[incident.arc];
    ratio = std::max(0.0, ratio);
    if (capacity >= amount) limit = ratio;
    entering_candidates_.push_back({ratio, incident.arc});
  };
  // Most arcs stay on the side, so that is asked first.
  for (const int node : side) {
    const double potential = net.potential[node];
    for (const FlowTree::IncidentArc& out : increasing.arcs_at(node))
      if (!net.tree.is_in_side(out.other))
        offer(out, sign * (net.potential[out.other] - potential) - out.length,
              FlowTree::ArcState::lower);
    for (const FlowTree::IncidentArc& in : decreasing.arcs_at(node))
      if (!net.tree.is_in_side(in.other))
        offer(in, sign * (net.potential[in.other] - potential) + in.length,
              FlowTree::ArcState::upper);
  }
}

void DualPivots::pivot(FlowTree& net, int leaving) {
  const int top = net.lower_end(leaving);
  const bool is_above_capacity = net.flow[leaving] > net.capacity[leaving];
  double amount = net.violation(leaving);
  const std::vector<int>& side = net.tree.smaller_side(top);
  // The subtree exports more where the arc out of it carries too much, or the arc into it
  // too little; the rest of the tree the other way round.
  const bool out_of_subtree = net.arcs[leaving].from == top;
  const bool exporting = (out_of_subtree == is_above_capacity) == net.tree.side_is_subtree();
  find_entering_candidates(net, side, exporting, amount);
  std::make_heap(entering_candidates_.begin(), entering_candidates_.end());

  // Long step: arcs that cannot take the whole amount go to their other bound, and are passed.
  EnteringCandidate entering{0, -1};
  while (!entering_candidates_.empty()) {
    std::pop_heap(entering_candidates_.begin(), entering_candidates_.end());
    entering = entering_candidates_.back();
    entering_candidates_.pop_back();
    const double capacity = net.capacity[entering.arc];
    if (capacity >= amount) break;
    const bool was_lower = net.state[entering.arc] == FlowTree::ArcState::lower;
    push_flow(net, entering.arc, was_lower ? capacity : -capacity);
    net.set_bound(entering.arc, was_lower);
    amount -= capacity;
    entering.arc = -1;
  }
  if (entering.arc < 0) throw SolverError("network simplex: a cut without an arc that can enter");

  const int join = push_flow(
      net, entering.arc, net.state[entering.arc] == FlowTree::ArcState::lower ? amount : -amount);
  net.set_bound(leaving, is_above_capacity);
  net.state[entering.arc] = FlowTree::ArcState::tree;
  const double shift = exporting ? entering.ratio : -entering.ratio;
  int inside = net.arcs[entering.arc].from, outside = net.arcs[entering.arc].to;
  if (net.tree.is_in_side(inside) != net.tree.side_is_subtree()) std::swap(inside, outside);
  net.potential.rehang(net.tree, top, inside, outside, net.tree.side_is_subtree() ? shift : -shift);
  net.tree.rehang(top, inside, outside, entering.arc, join);
  net.list_if_violated(entering.arc);
}

}  // namespace cosched::opt
