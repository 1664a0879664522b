#include "cosched/opt/flow_tree.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::opt {

FlowTree::FlowTree(int node_count, std::vector<LengthArc> all, std::vector<char> always)
    : nodes(node_count),
      count(static_cast<int>(all.size())),
      arcs(std::move(all)),
      endless(std::move(always)),
      tree(node_count),
      potential(node_count) {
  leaving.build(nodes, arcs, true, nullptr);
  entering.build(nodes, arcs, false, nullptr);
  leaving_capped.build(nodes, arcs, true, &endless);
  entering_capped.build(nodes, arcs, false, &endless);
  for (int a = 0; a < count; ++a)
    if (!endless[a]) capped.push_back(a);
  for (int node = 0; node < nodes; ++node) {  // no path is longer
    double longest = 0;
    for (const Incident& in : entering.at(node)) longest = std::max(longest, in.length);
    length_tolerance += 1e-13 * longest;
  }
  capacity.assign(arcs.size(), kInfinity);
  flow.assign(arcs.size(), 0);
  state.assign(arcs.size(), State::lower);
  noted.assign(arcs.size(), 0);
  distance.assign(nodes, 0);
  balance.assign(nodes, 0);
}

void FlowTree::Incidence::build(int nodes, const std::vector<LengthArc>& arcs, bool leaving,
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
void FlowTree::build_first_tree() {
  std::vector<int> best(nodes, -1);
  for (int node = 1; node < nodes; ++node) {
    double longest = -kInfinity;
    for (const Incident& in : entering.at(node)) {
      const double length = distance[in.other] + in.length;
      if (endless[in.arc] && length > longest) {
        longest = length;
        best[node] = in.arc;
      }
    }
    distance[node] = longest;
  }
  for (int node = nodes - 1; node > 0; --node) {
    tree.hang(node, arcs[best[node]].from, best[node]);
    state[best[node]] = State::tree;
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
  balance[nodes - 1] -= demand;
  for (const int a : capped) {
    if (state[a] != State::upper) continue;
    balance[arcs[a].from] -= flow[a];
    balance[arcs[a].to] += flow[a];
  }
  for (const int arc : violated) noted[arc] = 0;
  violated.clear();
  const std::vector<int>& order = tree.breadth_first();
  for (std::size_t k = order.size(); --k > 0;) {
    const int node = order[k], arc = tree.arc(node);
    flow[arc] = arcs[arc].from == node ? balance[node] : -balance[node];
    balance[tree.parent(node)] += balance[node];
    note(arc);
  }
}

int FlowTree::lower_end(int arc) const {
  return tree.arc(arcs[arc].from) == arc ? arcs[arc].from : arcs[arc].to;
}

double FlowTree::violation(int arc) const {
  return std::max(-flow[arc], flow[arc] - capacity[arc]);
}

void FlowTree::set_bound(int arc, bool upper) {
  state[arc] = capacity[arc] <= 0 ? State::closed : upper ? State::upper : State::lower;
  flow[arc] = upper ? capacity[arc] : 0;
}

void FlowTree::count_pivot() {
  if (++pivots % 16 == 0) check_interrupt();
  if (pivots > pivot_limit) throw SolverError("network simplex: the pivots do not end");
}

void FlowTree::note(int arc) {
  if (noted[arc] || violation(arc) <= tolerance) return;
  noted[arc] = 1;
  violated.push_back(arc);
}

}  // namespace cosched::opt
