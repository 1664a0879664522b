#include "cosched/opt/dual_pivots.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::opt {
namespace {

// More flow (amount may be negative) on an arc beside the tree and around its cycle; the
// cycle's highest node.
int push(FlowTree& net, int arc, double amount) {
  net.flow[arc] += amount;
  int u = net.arcs[arc].from, v = net.arcs[arc].to;
  while (u != v) {
    const bool from_u = net.tree.size(u) < net.tree.size(v);
    int& node = from_u ? u : v;
    const int tree = net.tree.arc(node);
    net.flow[tree] += (net.arcs[tree].from == node) != from_u ? amount : -amount;
    net.note(tree);
    node = net.tree.parent(node);
  }
  return u;
}

}  // namespace

void DualPivots::run(FlowTree& net) {
  for (int arc; (arc = choose_violated(net)) >= 0;) {
    pivot(net, arc);
    net.count_pivot();
  }
}

// The best of a block of violated arcs, the next block at the next call.  The square of the
// violation over the size of the cut's smaller side stands in for steepest edge.
int DualPivots::choose_violated(FlowTree& net) {
  constexpr std::size_t kBlock = 100;
  int best = -1;
  double highest = 0;
  for (std::size_t seen = 0; seen < kBlock && seen < net.violated.size();) {
    if (next_violated_ >= net.violated.size()) next_violated_ = 0;
    const int arc = net.violated[next_violated_];
    const double by = net.state[arc] == FlowTree::State::tree ? net.violation(arc) : 0;
    if (by <= net.tolerance) {
      net.noted[arc] = 0;
      net.violated[next_violated_] = net.violated.back();
      net.violated.pop_back();
      continue;
    }
    const int size = net.tree.size(net.lower_end(arc));
    const double score = by * by / std::min(size, net.nodes - size);
    if (score > highest) {
      highest = score;
      best = arc;
    }
    ++seen;
    ++next_violated_;
  }
  return best;
}

// Arcs through which the side could export (or import) more.  Arcs that come after one
// that can take the whole amount are of no use.
void DualPivots::find_crossings(const FlowTree& net, const std::vector<int>& side, bool exporting,
                                double amount) {
  crossings_.clear();
  double limit = kInfinity;
  // More through an arc at its lower bound in that direction, less through one at its upper
  // bound against it; only arcs with a capacity can be there.
  const FlowTree::Incidence& more = exporting ? net.leaving : net.entering;
  const FlowTree::Incidence& less = exporting ? net.entering_capped : net.leaving_capped;
  const double sign = exporting ? 1 : -1;
  const auto offer = [&](const FlowTree::Incident& incident, double ratio, FlowTree::State state) {
    if (ratio > limit || net.state[incident.arc] != state) return;
    const double capacity = net.capacity[incident.arc];
    ratio = std::max(0.0, ratio);
    if (capacity >= amount) limit = ratio;
    crossings_.push_back({ratio, incident.arc});
  };
  // Most arcs stay on the side, so that is asked first.
  for (const int node : side) {
    const double here = net.potential[node];
    for (const FlowTree::Incident& out : more.at(node))
      if (!net.tree.in_side(out.other))
        offer(out, sign * (net.potential[out.other] - here) - out.length, FlowTree::State::lower);
    for (const FlowTree::Incident& in : less.at(node))
      if (!net.tree.in_side(in.other))
        offer(in, sign * (net.potential[in.other] - here) + in.length, FlowTree::State::upper);
  }
}

void DualPivots::pivot(FlowTree& net, int leaving) {
  const int top = net.lower_end(leaving);
  const bool above = net.flow[leaving] > net.capacity[leaving];
  double amount = net.violation(leaving);
  const std::vector<int>& side = net.tree.smaller_side(top);
  // The subtree exports more where the arc out of it carries too much, or the arc into it
  // too little; the rest of the tree the other way round.
  const bool out_of_subtree = net.arcs[leaving].from == top;
  const bool exporting = (out_of_subtree == above) == net.tree.side_is_subtree();
  find_crossings(net, side, exporting, amount);
  std::make_heap(crossings_.begin(), crossings_.end());

  // Long step: pass arcs that cannot take the whole amount, they change their bound.
  Crossing entering{0, -1};
  while (!crossings_.empty()) {
    std::pop_heap(crossings_.begin(), crossings_.end());
    entering = crossings_.back();
    crossings_.pop_back();
    const double capacity = net.capacity[entering.arc];
    if (capacity >= amount) break;
    const bool was_lower = net.state[entering.arc] == FlowTree::State::lower;
    push(net, entering.arc, was_lower ? capacity : -capacity);
    net.set_bound(entering.arc, was_lower);
    amount -= capacity;
    entering.arc = -1;
  }
  if (entering.arc < 0) throw SolverError("network simplex: a cut without an arc that can enter");

  const int join =
      push(net, entering.arc, net.state[entering.arc] == FlowTree::State::lower ? amount : -amount);
  net.set_bound(leaving, above);
  net.state[entering.arc] = FlowTree::State::tree;
  const double shift = exporting ? entering.ratio : -entering.ratio;
  int inside = net.arcs[entering.arc].from, outside = net.arcs[entering.arc].to;
  if (net.tree.in_side(inside) != net.tree.side_is_subtree()) std::swap(inside, outside);
  net.potential.rehang(net.tree, top, inside, outside, net.tree.side_is_subtree() ? shift : -shift);
  net.tree.rehang(top, inside, outside, entering.arc, join);
  net.note(entering.arc);
}

}  // namespace cosched::opt
