// The dual solution that proves a lower bound.
#pragma once

#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/task_graph.hpp"

namespace cosched::opt {

/// A lower bound and the dual solution behind it.
struct DualProof {
  double bound = -kInfinity;
  std::vector<double> weights;
  std::vector<double> task_flow;  ///< of each task; empty: no flow
  std::vector<EdgeFlow> edge_flow;
  bool is_in_network =
      false;  // the flow is on link_flow, links of the event network, not yet on edges
  std::vector<double> link_flow;
};

}  // namespace cosched::opt
