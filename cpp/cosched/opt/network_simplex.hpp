// Flow of maximal total length in an acyclic network: a network simplex that keeps its tree
// from one set of capacities to the next.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cosched/opt/flow_tree.hpp"

namespace cosched::opt {

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
