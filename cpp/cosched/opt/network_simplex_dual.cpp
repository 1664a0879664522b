// The dual pivots of LongestFlow.
#include <algorithm>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/network_simplex.hpp"

namespace cosched::opt {

void LongestFlow::dual_phase() {
  for (int arc; (arc = choose_violated()) >= 0;) {
    dual_pivot(arc);
    count_pivot();
  }
}

void LongestFlow::note(int arc) {
  if (noted_[arc] || violation(arc) <= tolerance_) return;
  noted_[arc] = 1;
  violated_.push_back(arc);
}

// The best of a block of violated arcs, the next block at the next call.  The square of the
// violation over the size of the cut's smaller side stands in for steepest edge.
int LongestFlow::choose_violated() {
  constexpr std::size_t kBlock = 100;
  int best = -1;
  double highest = 0;
  for (std::size_t seen = 0; seen < kBlock && seen < violated_.size();) {
    if (next_violated_ >= violated_.size()) next_violated_ = 0;
    const int arc = violated_[next_violated_];
    const double by = state_[arc] == State::tree ? violation(arc) : 0;
    if (by <= tolerance_) {
      noted_[arc] = 0;
      violated_[next_violated_] = violated_.back();
      violated_.pop_back();
      continue;
    }
    const int size = tree_.size(lower_end(arc));
    const double score = by * by / std::min(size, nodes_ - size);
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
void LongestFlow::find_crossings(const std::vector<int>& side, bool exporting, double amount) {
  crossings_.clear();
  double limit = kInfinity;
  // More through an arc at its lower bound in that direction, less through one at its upper
  // bound against it; only arcs with a capacity can be there.
  const Incidence& more = exporting ? leaving_ : entering_;
  const Incidence& less = exporting ? entering_capped_ : leaving_capped_;
  const double sign = exporting ? 1 : -1;
  const auto offer = [&](const Incident& incident, double ratio, State state) {
    if (ratio > limit || state_[incident.arc] != state) return;
    const double capacity = capacity_[incident.arc];
    ratio = std::max(0.0, ratio);
    if (capacity >= amount) limit = ratio;
    crossings_.push_back({ratio, incident.arc});
  };
  // Most arcs stay on the side, so that is asked first.
  for (const int node : side) {
    const double here = potential_[node];
    for (const Incident& out : more.at(node))
      if (!tree_.in_side(out.other))
        offer(out, sign * (potential_[out.other] - here) - out.length, State::lower);
    for (const Incident& in : less.at(node))
      if (!tree_.in_side(in.other))
        offer(in, sign * (potential_[in.other] - here) + in.length, State::upper);
  }
}

// More flow (amount may be negative) on an arc beside the tree and around its cycle; the
// cycle's highest node.
int LongestFlow::push(int arc, double amount) {
  flow_[arc] += amount;
  int u = arcs_[arc].from, v = arcs_[arc].to;
  while (u != v) {
    const bool from_u = tree_.size(u) < tree_.size(v);
    int& node = from_u ? u : v;
    const int tree = tree_.arc(node);
    flow_[tree] += (arcs_[tree].from == node) != from_u ? amount : -amount;
    note(tree);
    node = tree_.parent(node);
  }
  return u;
}

void LongestFlow::dual_pivot(int leaving) {
  const int top = lower_end(leaving);
  const bool above = flow_[leaving] > capacity_[leaving];
  double amount = violation(leaving);
  const std::vector<int>& side = tree_.smaller_side(top);
  // The subtree exports more where the arc out of it carries too much, or the arc into it
  // too little; the rest of the tree the other way round.
  const bool out_of_subtree = arcs_[leaving].from == top;
  const bool exporting = (out_of_subtree == above) == tree_.side_is_subtree();
  find_crossings(side, exporting, amount);
  std::make_heap(crossings_.begin(), crossings_.end());

  // Long step: pass arcs that cannot take the whole amount, they change their bound.
  Crossing entering{0, -1};
  while (!crossings_.empty()) {
    std::pop_heap(crossings_.begin(), crossings_.end());
    entering = crossings_.back();
    crossings_.pop_back();
    const double capacity = capacity_[entering.arc];
    if (capacity >= amount) break;
    const bool was_lower = state_[entering.arc] == State::lower;
    push(entering.arc, was_lower ? capacity : -capacity);
    set_bound(entering.arc, was_lower);
    amount -= capacity;
    entering.arc = -1;
  }
  if (entering.arc < 0) throw SolverError("network simplex: a cut without an arc that can enter");

  const int join = push(entering.arc, state_[entering.arc] == State::lower ? amount : -amount);
  set_bound(leaving, above);
  state_[entering.arc] = State::tree;
  const double shift = exporting ? entering.ratio : -entering.ratio;
  int inside = arcs_[entering.arc].from, outside = arcs_[entering.arc].to;
  if (tree_.in_side(inside) != tree_.side_is_subtree()) std::swap(inside, outside);
  potential_.rehang(tree_, top, inside, outside, tree_.side_is_subtree() ? shift : -shift);
  tree_.rehang(top, inside, outside, entering.arc, join);
  note(entering.arc);
}

}  // namespace cosched::opt
