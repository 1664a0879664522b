// Flow of maximal total length in an acyclic network: a network simplex that keeps its tree
// from one set of capacities to the next.
#pragma once

#include <cstddef>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/spanning_tree.hpp"

namespace cosched::opt {

// A flow in an acyclic network with its spanning tree: what the primal and the dual pivots of
// network_simplex.hpp share.

struct LengthArc {
  int from, to;
  double length;
};

/// Plain data, which the pivots change in place: the flow of an arc beside the tree is at a bound,
/// that of a tree arc follows; the potentials make every tree arc tight.
struct FlowTree {
  // closed: at its lower bound, which is its upper bound too.
  enum class State : char { lower, upper, tree, closed };
  struct Incident {
    int other, arc;
    double length;
  };
  struct Incidence {  // arcs at each node, with what a scan needs side by side
    std::vector<int> begin;
    std::vector<Incident> items;
    struct Range {
      const Incident *first, *last;
      const Incident* begin() const { return first; }
      const Incident* end() const { return last; }
    };
    Range at(int node) const {
      return {items.data() + begin[node], items.data() + begin[node + 1]};
    }
    void build(int size, const std::vector<LengthArc>& all, bool out,
               const std::vector<char>* skip) {
      begin.assign(size + 1, 0);
      const auto kept = [&](std::size_t a) { return !skip || !(*skip)[a]; };
      for (std::size_t a = 0; a < all.size(); ++a)
        if (kept(a)) ++begin[(out ? all[a].from : all[a].to) + 1];
      for (int node = 0; node < size; ++node) begin[node + 1] += begin[node];
      items.resize(begin.back());
      std::vector<int> next(begin.begin(), begin.end() - 1);
      for (std::size_t a = 0; a < all.size(); ++a) {
        if (!kept(a)) continue;
        const auto& [from, to, length] = all[a];
        items[next[out ? from : to]++] = {out ? to : from, static_cast<int>(a), length};
      }
    }
  };
  /// Requires what LongestFlow requires.
  FlowTree(int node_count, std::vector<LengthArc> all, std::vector<char> always)
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

  // The longest-path tree of the endless arcs: with the whole demand on its path to the last
  // node it is a feasible start whatever the capacities.
  void build_first_tree() {
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

  void recompute_potentials() {
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
  void recompute_flows() {
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

  double reduced_length(int arc) const {
    return potential[arcs[arc].from] + arcs[arc].length - potential[arcs[arc].to];
  }
  double violation(int arc) const { return std::max(-flow[arc], flow[arc] - capacity[arc]); }

  int lower_end(int arc) const {
    return tree.arc(arcs[arc].from) == arc ? arcs[arc].from : arcs[arc].to;
  }

  void set_bound(int arc, bool upper) {
    state[arc] = capacity[arc] <= 0 ? State::closed : upper ? State::upper : State::lower;
    flow[arc] = upper ? capacity[arc] : 0;
  }

  /// Lists the arc as violated where it is.
  void note(int arc) {
    if (noted[arc] || violation(arc) <= tolerance) return;
    noted[arc] = 1;
    violated.push_back(arc);
  }

  void count_pivot() {
    if (++pivots % 16 == 0) check_interrupt();
    if (pivots > pivot_limit) throw SolverError("network simplex: the pivots do not end");
  }

  int nodes, count;
  std::vector<LengthArc> arcs;
  std::vector<char> endless;
  std::vector<int> capped;  // the other arcs
  Incidence leaving, entering, leaving_capped, entering_capped;
  std::vector<double> capacity, flow, balance;
  std::vector<double> distance;  // potentials before the tree takes them over
  std::vector<State> state;
  SpanningTree tree;
  TreePotentials potential;
  bool has_tree = false;
  double demand = 0, tolerance = 0, length_tolerance = 0;
  std::int64_t pivots = 0, pivot_limit = 0;

  std::vector<int> violated;  // tree arcs that may be outside their bounds
  std::vector<char> noted;
};

// The primal pivots of a network simplex.

/// Keeps where its search goes on between calls.
class PrimalPivots {
 public:
  /// Takes over a feasible flow.  Arcs beside the tree that it leaves between their bounds are
  /// moved to one of them by the next run.
  void adopt(FlowTree& net, const std::vector<double>& start);

  /// Until no arc beside the tree makes the flow longer.  Throws SolverError where the pivots do
  /// not end.
  void run(FlowTree& net);

 private:
  int choose_entering(const FlowTree& net);

  int next_entering_ = 0;
  std::vector<int> between_;
};

// The dual pivots of a network simplex, with long steps.

/// Keeps its memory, and where its search goes on, between calls.
class DualPivots {
 public:
  /// Until no tree arc is outside its bounds by more than the tolerance.  Requires a tree that is
  /// optimal but for these.  Throws SolverError where the pivots do not end.
  void run(FlowTree& net);

 private:
  struct Crossing {  // an arc that may enter, and how far the cut's potentials move to it
    double ratio;
    int arc;
    bool operator<(const Crossing& other) const {
      return ratio != other.ratio ? ratio > other.ratio : arc > other.arc;
    }
  };

  int choose_violated(FlowTree& net);
  void pivot(FlowTree& net, int leaving);
  void find_crossings(const FlowTree& net, const std::vector<int>& side, bool exporting,
                      double amount);

  std::size_t next_violated_ = 0;
  std::vector<Crossing> crossings_;
};

/// maximise sum length(a) f(a) over flows of amount `demand` from node 0 to the last node
/// with 0 <= f(a) <= capacity(a).
///
/// The lengths stay, only capacities and demand change from call to call.  The tree of the
/// last optimum is kept, and the caller turns its flow into one that is feasible for the new
/// capacities (easy where a fast endless arc runs beside each capacitated one): primal pivots
/// go on from there.  Dual pivots, with long steps, sweep out what rounding leaves.
class LongestFlow {
 public:
  /// Requires from < to for every arc (nodes in topological order), every node reachable
  /// from node 0 by the arcs of `endless` (a flag an arc: its capacity is always infinite)
  /// and the last node reachable from every node by them.
  LongestFlow(int nodes, std::vector<LengthArc> arcs, std::vector<char> endless)
      : net_(nodes, std::move(arcs), std::move(endless)) {}

  /// Solves for capacity[a] >= 0 (ignored for endless arcs) and demand > 0.  `start`: a
  /// feasible flow; ignored at the first call.
  /// Throws SolverError when the pivots do not end (a numerical breakdown).
  void solve(const std::vector<double>& capacity, double demand, const std::vector<double>& start);
  bool has_flow() const { return net_.has_tree; }

  /// f(a), within [0, capacity] up to 1e-12 demand.
  double flow(int arc) const { return net_.flow[arc]; }
  /// Longest-path potentials: y(to) - y(from) >= length where the flow is below its
  /// capacity, <= length where it is above 0.  y(0) = 0.
  double potential(int node) const { return net_.potential[node]; }

 private:
  FlowTree net_;
  PrimalPivots primal_;
  DualPivots dual_;
};

}  // namespace cosched::opt
