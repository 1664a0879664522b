// Flow of maximal total length in an acyclic network: a network simplex that keeps its tree
// from one set of capacities to the next.
#pragma once

#include <vector>

#include "cosched/opt/dual_pivots.hpp"
#include "cosched/opt/flow_tree.hpp"
#include "cosched/opt/primal_pivots.hpp"

namespace cosched::opt {

/// maximise sum length(a) f(a) over flows of amount `demand` from node 0 to the last node
/// with 0 <= f(a) <= capacity(a).
///
/// The lengths stay, only capacities and demand change from call to call.  The tree of the last
/// optimum is kept, and the caller turns its flow into one that is feasible for the new capacities
/// (easy where a fast uncapacitated arc is parallel to each capacitated one): primal pivots go on
/// from there.  Dual pivots, with long steps, sweep out what rounding leaves.
class MaxLengthFlow {
 public:
  /// Requires from < to for every arc (nodes in topological order), every node reachable
  /// from node 0 by the arcs of `uncapacitated` (a flag an arc: its capacity is always infinite)
  /// and the last node reachable from every node by them.
  MaxLengthFlow(int nodes, std::vector<LengthArc> arcs, std::vector<char> uncapacitated)
      : net_(nodes, std::move(arcs), std::move(uncapacitated)) {}

  /// Solves for capacity[a] >= 0 (ignored for uncapacitated arcs) and demand > 0.  `start`: a
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
