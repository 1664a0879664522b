#include "cosched/opt/primal_pivots.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cosched::opt {
namespace {

int join_of(const FlowTree& net, int arc) {
  int u = net.arcs[arc].from, v = net.arcs[arc].to;
  while (u != v) {
    if (net.tree.size(u) < net.tree.size(v))
      u = net.tree.parent(u);
    else
      v = net.tree.parent(v);
  }
  return u;
}

struct Blocking {  // the first arc of a cycle to reach a bound
  double amount;
  int top;  // its lower end; -1: the entering arc itself
  bool on_from_side;
};

// With sign +1 flow runs along the arc, from its head up to the join and down to its tail.
Blocking find_blocking(const FlowTree& net, int arc, double sign, int join) {
  Blocking blocking{sign > 0 ? net.capacity[arc] - net.flow[arc] : net.flow[arc], -1, false};
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

void pivot(FlowTree& net, int arc, bool increase) {
  const double sign = increase ? 1 : -1;
  const int join = join_of(net, arc);
  const Blocking blocking = find_blocking(net, arc, sign, join);
  if (blocking.amount > 0) push_cycle(net, arc, sign * blocking.amount, join);
  if (blocking.top < 0) {  // the arc goes to its other bound
    net.set_bound(arc, increase);
    return;
  }
  const int leaving = net.tree.arc(blocking.top);
  const bool up = net.arcs[leaving].from == blocking.top;
  const bool gained = (up != blocking.on_from_side) == increase;
  net.set_bound(leaving, gained);
  net.state[arc] = FlowTree::State::tree;

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
void PrimalPivots::adopt(FlowTree& net, const std::vector<double>& start) {
  between_.clear();
  for (int a = 0; a < net.count; ++a) {
    net.flow[a] = std::min(std::max(0.0, start[a]), net.capacity[a]);
    if (net.state[a] == FlowTree::State::tree) continue;
    if (net.flow[a] <= net.tolerance)
      net.set_bound(a, false);
    else if (net.flow[a] >= net.capacity[a] - net.tolerance)
      net.set_bound(a, true);
    else
      between_.push_back(a);
  }
}

void PrimalPivots::run(FlowTree& net) {
  for (const int arc : between_) {
    pivot(net, arc, net.reduced_length(arc) > 0);
    net.count_pivot();
  }
  between_.clear();
  for (int arc; (arc = choose_entering(net)) >= 0;) {
    pivot(net, arc, net.state[arc] == FlowTree::State::lower);
    net.count_pivot();
  }
}

// Block search: the arc that gains most among the next ones.
int PrimalPivots::choose_entering(const FlowTree& net) {
  // A pivot costs about what scanning 100 arcs does in a network of 10^6 of them, so a small block: most
  // of the time of sqrt(count), the usual one, went into better arcs that saved no pivot.
  const int block = std::max(20, static_cast<int>(std::sqrt(net.count)) / 24);
  double gain = net.length_tolerance;
  for (int seen = 0; seen < net.count;) {
    const int first = next_entering_, last = std::min(net.count, first + block);
    int best = -1;
    for (int arc = first; arc < last; ++arc) {
      if (net.state[arc] == FlowTree::State::tree || net.state[arc] == FlowTree::State::closed)
        continue;
      const double reduced = net.reduced_length(arc);
      const double here = net.state[arc] == FlowTree::State::lower ? reduced : -reduced;
      if (here > gain) {
        gain = here;
        best = arc;
      }
    }
    next_entering_ = last == net.count ? 0 : last;
    if (best >= 0) return best;
    seen += last - first;
  }
  return -1;
}

}  // namespace cosched::opt
