#include "cosched/opt/primal_pivots.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::opt {
namespace {

// The node where the paths from the two ends of an arc to the root meet.
int find_join(const FlowTree& net, int arc) {
  int u = net.arcs[arc].from, v = net.arcs[arc].to;
  while (u != v) {
    if (net.tree.subtree_size(u) < net.tree.subtree_size(v))
      u = net.tree.parent(u);
    else
      v = net.tree.parent(v);
  }
  return u;
}

// The first arc of a cycle to reach a bound, by `amount` of flow around the cycle.
struct BlockingArc {
  double amount;
  int top;            // the end of the arc that is further from the root; -1: the entering arc
  bool on_from_side;  // the arc is between the entering arc's tail and the join
};

// The arc that blocks the cycle of `arc`.  With sign +1 flow runs along the arc, from its head up
// to the join and down to its tail.
BlockingArc find_blocking(const FlowTree& net, int arc, double sign, int join) {
  BlockingArc blocking{sign > 0 ? net.capacity[arc] - net.flow[arc] : net.flow[arc], -1, false};
  const auto walk = [&](int node, bool from_side) {
    for (; node != join; node = net.tree.parent(node)) {
      const int tree = net.tree.arc(node);
      const bool up = net.arcs[tree].from == node;
      const bool gains = (up != from_side) == (sign > 0);
      const double room = gains ? net.capacity[tree] - net.flow[tree] : net.flow[tree];
      // The last one in the direction of the flow, seen from the join, wins ties.
      if (from_side == (sign > 0) ? room < blocking.amount : room <= blocking.amount)
        blocking = {room, node, from_side};
    }
  };
  walk(net.arcs[arc].from, true);
  walk(net.arcs[arc].to, false);
  blocking.amount = std::max(0.0, blocking.amount);
  return blocking;
}

// Adds `amount`, which may be negative, to the flow of an arc and around its cycle.
void push_cycle(FlowTree& net, int arc, double amount, int join) {
  net.flow[arc] += amount;
  for (int node = net.arcs[arc].from; node != join; node = net.tree.parent(node)) {
    const int tree = net.tree.arc(node);
    net.flow[tree] += net.arcs[tree].from == node ? -amount : amount;
  }
  for (int node = net.arcs[arc].to; node != join; node = net.tree.parent(node)) {
    const int tree = net.tree.arc(node);
    net.flow[tree] += net.arcs[tree].from == node ? amount : -amount;
  }
}

// The arc enters the tree, with more flow or with less, for the arc that blocks its cycle.
void pivot_on(FlowTree& net, int arc, bool increase) {
  const double sign = increase ? 1 : -1;
  const int join = find_join(net, arc);
  const BlockingArc blocking = find_blocking(net, arc, sign, join);
  if (blocking.amount > 0) push_cycle(net, arc, sign * blocking.amount, join);
  if (blocking.top < 0) {  // the arc goes to its other bound
    net.set_bound(arc, increase);
    return;
  }
  const int leaving = net.tree.arc(blocking.top);
  const bool up = net.arcs[leaving].from == blocking.top;
  const bool gained = (up != blocking.on_from_side) == increase;
  net.set_bound(leaving, gained);
  net.state[arc] = FlowTree::ArcState::tree;

  // The subtree that is cut off moves so that the entering arc becomes tight.
  const double reduced = net.reduced_length(arc);
  const double subtree_shift = blocking.on_from_side ? -reduced : reduced;
  int inside = net.arcs[arc].from, outside = net.arcs[arc].to;
  if (!blocking.on_from_side) std::swap(inside, outside);
  net.potential.rehang(net.tree, blocking.top, inside, outside, subtree_shift);
  net.tree.rehang(blocking.top, inside, outside, arc, join);
}

}  // namespace

// Takes over a feasible flow.  Arcs beside the tree that it leaves between their bounds go
// to one of them, in the direction that does not make the flow shorter.
void PrimalPivots::adopt_flow(FlowTree& net, const std::vector<double>& start) {
  arcs_between_bounds_.clear();
  for (int a = 0; a < net.arc_count; ++a) {
    net.flow[a] = std::min(std::max(0.0, start[a]), net.capacity[a]);
    if (net.state[a] == FlowTree::ArcState::tree) continue;
    if (net.flow[a] <= net.tolerance)
      net.set_bound(a, false);
    else if (net.flow[a] >= net.capacity[a] - net.tolerance)
      net.set_bound(a, true);
    else
      arcs_between_bounds_.push_back(a);
  }
}

// Block search: the arc that gains most in the first block, from where the last call ended, in
// which some arc gains; -1: no arc of the network gains.
int PrimalPivots::choose_entering(const FlowTree& net) {
  // A pivot costs about what scanning 100 arcs does in a network of 10^6 of them, so a small block:
  // most of the time of sqrt(count), the usual one, went into better arcs that saved no pivot.
  constexpr int kLeastBlock = 20, kBlockDivisor = 24;
  const int block =
      std::max(kLeastBlock, static_cast<int>(std::sqrt(net.arc_count)) / kBlockDivisor);
  double gain = net.length_tolerance;
  for (int scanned = 0; scanned < net.arc_count;) {
    const int first = next_entering_, last = std::min(net.arc_count, first + block);
    int best = -1;
    for (int arc = first; arc < last; ++arc) {
      if (net.state[arc] == FlowTree::ArcState::tree ||
          net.state[arc] == FlowTree::ArcState::closed)
        continue;
      const double reduced = net.reduced_length(arc);
      const double arc_gain = net.state[arc] == FlowTree::ArcState::lower ? reduced : -reduced;
      if (arc_gain > gain) {
        gain = arc_gain;
        best = arc;
      }
    }
    next_entering_ = last == net.arc_count ? 0 : last;
    if (best >= 0) return best;
    scanned += last - first;
  }
  return -1;
}

void PrimalPivots::pivot_to_optimum(FlowTree& net) {
  for (const int arc : arcs_between_bounds_) {
    pivot_on(net, arc, net.reduced_length(arc) > 0);
    net.count_pivot();
  }
  arcs_between_bounds_.clear();
  int entering = choose_entering(net);
  while (entering >= 0) {
    pivot_on(net, entering, net.state[entering] == FlowTree::ArcState::lower);
    net.count_pivot();
    entering = choose_entering(net);
  }
}

}  // namespace cosched::opt
