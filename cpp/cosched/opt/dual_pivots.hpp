// The dual pivots of a network simplex, with long steps.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/opt/flow_tree.hpp"

namespace cosched::opt {

/// Keeps its memory, and the position where its search continues, between calls.
class DualPivots {
 public:
  /// Pivots until no tree arc violates its bounds by more than the tolerance.  Requires a tree that
  /// is optimal apart from these violations.  Throws SolverError where the pivots do not end.
  void pivot_to_feasibility(FlowTree& net);

 private:
  // An arc that may enter the tree, and how far the potentials of the cut move until it is tight.
  struct EnteringCandidate {
    double ratio;
    int arc;
    bool operator<(const EnteringCandidate& other) const {
      return ratio != other.ratio ? ratio > other.ratio : arc > other.arc;
    }
  };

  int choose_violated(FlowTree& net);
  void pivot(FlowTree& net, int leaving);
  void find_entering_candidates(const FlowTree& net, const std::vector<int>& side, bool exporting,
                                double amount);

  std::size_t next_violated_ = 0;
  std::vector<EnteringCandidate> entering_candidates_;
};

}  // namespace cosched::opt
