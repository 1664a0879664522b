// The dual pivots of a network simplex, with long steps.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/opt/flow_tree.hpp"

namespace cosched::opt {

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

}  // namespace cosched::opt
