// The primal pivots of a network simplex.
#pragma once

#include <vector>

#include "cosched/opt/flow_tree.hpp"

namespace cosched::opt {

/// Keeps where its search goes on between calls.
class PrimalPivots {
 public:
  /// Takes over a feasible flow.  Arcs beside the tree that it leaves between their bounds are
  /// moved to one of them by the next run.
  void adopt_flow(FlowTree& net, const std::vector<double>& start);

  /// Until no arc beside the tree makes the flow longer.  Throws SolverError where the pivots do
  /// not end.
  void pivot_to_optimum(FlowTree& net);

 private:
  int choose_entering(const FlowTree& net);

  int next_entering_ = 0;                 // the arc at which the next block begins
  std::vector<int> arcs_between_bounds_;  // that the next run moves to a bound
};

}  // namespace cosched::opt
