// The primal pivots of LongestFlow.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/opt/network_simplex.hpp"

namespace cosched::opt {

// Takes over a feasible flow.  Arcs beside the tree that it leaves between their bounds go
// to one of them, in the direction that does not make the flow shorter.
void LongestFlow::adopt(const std::vector<double>& start) {
  between_.clear();
  for (int a = 0; a < count_; ++a) {
    flow_[a] = std::min(std::max(0.0, start[a]), capacity_[a]);
    if (state_[a] == State::tree) continue;
    if (flow_[a] <= tolerance_)
      set_bound(a, false);
    else if (flow_[a] >= capacity_[a] - tolerance_)
      set_bound(a, true);
    else
      between_.push_back(a);
  }
}

void LongestFlow::primal_phase() {
  for (const int arc : between_) {
    primal_pivot(arc, reduced_length(arc) > 0);
    count_pivot();
  }
  between_.clear();
  for (int arc; (arc = choose_entering()) >= 0;) {
    primal_pivot(arc, state_[arc] == State::lower);
    count_pivot();
  }
}

// Block search: the arc that gains most among the next ones.
int LongestFlow::choose_entering() {
  // A pivot costs about what scanning 100 arcs does in a network of 10^6 of them, so a small block: most
  // of the time of sqrt(count), the usual one, went into better arcs that saved no pivot.
  const int block = std::max(20, static_cast<int>(std::sqrt(count_)) / 24);
  double gain = length_tolerance_;
  for (int seen = 0; seen < count_;) {
    const int first = next_entering_, last = std::min(count_, first + block);
    int best = -1;
    for (int arc = first; arc < last; ++arc) {
      if (state_[arc] == State::tree || state_[arc] == State::closed) continue;
      const double reduced = reduced_length(arc);
      const double here = state_[arc] == State::lower ? reduced : -reduced;
      if (here > gain) {
        gain = here;
        best = arc;
      }
    }
    next_entering_ = last == count_ ? 0 : last;
    if (best >= 0) return best;
    seen += last - first;
  }
  return -1;
}

int LongestFlow::join_of(int arc) const {
  int u = arcs_[arc].from, v = arcs_[arc].to;
  while (u != v) {
    if (tree_.size(u) < tree_.size(v))
      u = tree_.parent(u);
    else
      v = tree_.parent(v);
  }
  return u;
}

// With sign +1 flow runs along the arc, from its head up to the join and down to its tail.
LongestFlow::Blocking LongestFlow::find_blocking(int arc, double sign, int join) const {
  Blocking blocking{sign > 0 ? capacity_[arc] - flow_[arc] : flow_[arc], -1, false};
  const auto walk = [&](int node, bool from_side) {
    for (; node != join; node = tree_.parent(node)) {
      const int tree = tree_.arc(node);
      const bool up = arcs_[tree].from == node;
      const bool gains = (up != from_side) == (sign > 0);
      const double room = gains ? capacity_[tree] - flow_[tree] : flow_[tree];
      // The last one in the direction of the flow, seen from the join, wins ties.
      if (from_side == (sign > 0) ? room < blocking.amount : room <= blocking.amount)
        blocking = {room, node, from_side};
    }
  };
  walk(arcs_[arc].from, true);
  walk(arcs_[arc].to, false);
  blocking.amount = std::max(0.0, blocking.amount);
  return blocking;
}

void LongestFlow::push_cycle(int arc, double amount, int join) {
  flow_[arc] += amount;
  for (int node = arcs_[arc].from; node != join; node = tree_.parent(node)) {
    const int tree = tree_.arc(node);
    flow_[tree] += arcs_[tree].from == node ? -amount : amount;
  }
  for (int node = arcs_[arc].to; node != join; node = tree_.parent(node)) {
    const int tree = tree_.arc(node);
    flow_[tree] += arcs_[tree].from == node ? amount : -amount;
  }
}

void LongestFlow::primal_pivot(int arc, bool increase) {
  const double sign = increase ? 1 : -1;
  const int join = join_of(arc);
  const Blocking blocking = find_blocking(arc, sign, join);
  if (blocking.amount > 0) push_cycle(arc, sign * blocking.amount, join);
  if (blocking.top < 0) {  // the arc goes to its other bound
    set_bound(arc, increase);
    return;
  }
  const int leaving = tree_.arc(blocking.top);
  const bool up = arcs_[leaving].from == blocking.top;
  const bool gained = (up != blocking.on_from_side) == increase;
  set_bound(leaving, gained);
  state_[arc] = State::tree;

  // The subtree that is cut off moves so that the entering arc becomes tight.
  const double reduced = reduced_length(arc);
  const double subtree_shift = blocking.on_from_side ? -reduced : reduced;
  int inside = arcs_[arc].from, outside = arcs_[arc].to;
  if (!blocking.on_from_side) std::swap(inside, outside);
  potential_.rehang(tree_, blocking.top, inside, outside, subtree_shift);
  tree_.rehang(blocking.top, inside, outside, arc, join);
}

}  // namespace cosched::opt
