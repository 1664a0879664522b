#include "cosched/opt/network_simplex.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::opt {

LongestFlow::LongestFlow(int nodes, std::vector<LengthArc> arcs, std::vector<char> endless)
    : nodes_(nodes),
      count_(static_cast<int>(arcs.size())),
      arcs_(std::move(arcs)),
      endless_(std::move(endless)),
      tree_(nodes),
      potential_(nodes) {
  leaving_.build(nodes_, arcs_, true, nullptr);
  entering_.build(nodes_, arcs_, false, nullptr);
  leaving_capped_.build(nodes_, arcs_, true, &endless_);
  entering_capped_.build(nodes_, arcs_, false, &endless_);
  for (int a = 0; a < count_; ++a)
    if (!endless_[a]) capped_.push_back(a);
  for (int node = 0; node < nodes_; ++node) {  // no path is longer
    double longest = 0;
    for (const Incident& in : entering_.at(node)) longest = std::max(longest, in.length);
    length_tolerance_ += 1e-13 * longest;
  }
  capacity_.assign(arcs_.size(), kInfinity);
  flow_.assign(arcs_.size(), 0);
  state_.assign(arcs_.size(), State::lower);
  noted_.assign(arcs_.size(), 0);
  distance_.assign(nodes, 0);
  balance_.assign(nodes, 0);
}

void LongestFlow::Incidence::build(int nodes, const std::vector<LengthArc>& arcs, bool leaving,
                                   const std::vector<char>* skip) {
  begin.assign(nodes + 1, 0);
  const auto kept = [&](std::size_t a) { return !skip || !(*skip)[a]; };
  for (std::size_t a = 0; a < arcs.size(); ++a)
    if (kept(a)) ++begin[(leaving ? arcs[a].from : arcs[a].to) + 1];
  for (int node = 0; node < nodes; ++node) begin[node + 1] += begin[node];
  items.resize(begin.back());
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    if (!kept(a)) continue;
    const auto& [from, to, length] = arcs[a];
    items[next[leaving ? from : to]++] = {leaving ? to : from, static_cast<int>(a), length};
  }
}

// The longest-path tree of the endless arcs: with the whole demand on its path to the last
// node it is a feasible start whatever the capacities.
void LongestFlow::build_first_tree() {
  std::vector<int> best(nodes_, -1);
  for (int node = 1; node < nodes_; ++node) {
    double longest = -kInfinity;
    for (const Incident& in : entering_.at(node)) {
      const double length = distance_[in.other] + in.length;
      if (endless_[in.arc] && length > longest) {
        longest = length;
        best[node] = in.arc;
      }
    }
    distance_[node] = longest;
  }
  for (int node = nodes_ - 1; node > 0; --node) {
    tree_.hang(node, arcs_[best[node]].from, best[node]);
    state_[best[node]] = State::tree;
  }
  has_tree_ = true;
}

void LongestFlow::recompute_potentials() {
  const std::vector<int>& order = tree_.breadth_first();
  distance_[0] = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    const LengthArc& arc = arcs_[tree_.arc(order[k])];
    distance_[order[k]] =
        arc.to == order[k] ? distance_[arc.from] + arc.length : distance_[arc.to] - arc.length;
  }
  potential_.assign(tree_, distance_);
}

// Flows of the tree arcs from those beside the tree, and the list of violated ones.
void LongestFlow::recompute_flows() {
  std::fill(balance_.begin(), balance_.end(), 0.0);
  balance_[0] = demand_;
  balance_[nodes_ - 1] -= demand_;
  for (const int a : capped_) {
    if (state_[a] != State::upper) continue;
    balance_[arcs_[a].from] -= flow_[a];
    balance_[arcs_[a].to] += flow_[a];
  }
  for (const int arc : violated_) noted_[arc] = 0;
  violated_.clear();
  const std::vector<int>& order = tree_.breadth_first();
  for (std::size_t k = order.size(); --k > 0;) {
    const int node = order[k], arc = tree_.arc(node);
    flow_[arc] = arcs_[arc].from == node ? balance_[node] : -balance_[node];
    balance_[tree_.parent(node)] += balance_[node];
    note(arc);
  }
}

int LongestFlow::lower_end(int arc) const {
  return tree_.arc(arcs_[arc].from) == arc ? arcs_[arc].from : arcs_[arc].to;
}

double LongestFlow::violation(int arc) const {
  return std::max(-flow_[arc], flow_[arc] - capacity_[arc]);
}

void LongestFlow::set_bound(int arc, bool upper) {
  state_[arc] = capacity_[arc] <= 0 ? State::closed : upper ? State::upper : State::lower;
  flow_[arc] = upper ? capacity_[arc] : 0;
}

void LongestFlow::count_pivot() {
  if (++pivots_ % 16 == 0) check_interrupt();
  if (pivots_ > pivot_limit_) throw SolverError("network simplex: the pivots do not end");
}

// Dual pivots scan cuts, so they only pay while few arcs are violated.
constexpr std::size_t kFew = 30;

void LongestFlow::solve(const std::vector<double>& capacity, double demand,
                        const std::vector<double>& start) {
  demand_ = demand;
  tolerance_ = 1e-13 * demand;
  pivot_limit_ = pivots_ + 100000 + 100 * static_cast<std::int64_t>(count_);
  for (const int a : capped_)
    // More than the demand never flows; a finite bound keeps flows at `upper` finite.
    capacity_[a] = std::min(capacity[a], 2 * demand);
  const bool warm = has_tree_;
  if (!warm) {
    build_first_tree();
    recompute_potentials();
  }
  for (const int a : capped_)
    if (state_[a] != State::tree) set_bound(a, warm && reduced_length(a) > 0);
  recompute_flows();
  if (!warm || violated_.size() > kFew) {
    if (warm) adopt(start);
    primal_phase();
  }
  for (int repeat = 0; repeat < 20; ++repeat) {  // sweeps rounding errors out
    recompute_flows();
    if (violated_.empty()) break;
    dual_phase();
  }
  recompute_potentials();
}

}  // namespace cosched::opt
