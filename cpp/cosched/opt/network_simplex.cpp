#include "cosched/opt/network_simplex.hpp"

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

// Dual pivots scan cuts, so they only pay while few arcs are violated.
constexpr std::size_t kFew = 30;

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
  // A pivot costs about what scanning 100 arcs does in a network of 10^6 of them, so a small block:
  // most of the time of sqrt(count), the usual one, went into better arcs that saved no pivot.
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

void LongestFlow::solve(const std::vector<double>& capacity, double demand,
                        const std::vector<double>& start) {
  net_.demand = demand;
  net_.tolerance = 1e-13 * demand;
  net_.pivot_limit = net_.pivots + 100000 + 100 * static_cast<std::int64_t>(net_.count);
  for (const int a : net_.capped)
    // More than the demand never flows; a finite bound keeps flows at `upper` finite.
    net_.capacity[a] = std::min(capacity[a], 2 * demand);
  const bool warm = net_.has_tree;
  if (!warm) {
    net_.build_first_tree();
    net_.recompute_potentials();
  }
  for (const int a : net_.capped)
    if (net_.state[a] != FlowTree::State::tree)
      net_.set_bound(a, warm && net_.reduced_length(a) > 0);
  net_.recompute_flows();
  if (!warm || net_.violated.size() > kFew) {
    if (warm) primal_.adopt(net_, start);
    primal_.run(net_);
  }
  for (int repeat = 0; repeat < 20; ++repeat) {  // sweeps rounding errors out
    net_.recompute_flows();
    if (net_.violated.empty()) break;
    dual_.run(net_);
  }
  net_.recompute_potentials();
}

}  // namespace cosched::opt
