// Proof of a bound on LP*: what a solver hands over, and all that a check knows of it.
#pragma once

#include "cosched/core/task_graph.hpp"

namespace cosched::dags::hlp {

using cosched::EdgeFlow;

/// Proof that LP* >= value: weights pi >= 0 of the Q loads and of the path, sum 1, and a
/// flow of at most pi_path from the begin of the project through tasks to its end:
/// through task j task_flow[j], on edges edge_flow.  For every x, lambda >=
///   sum_q pi_q load_q + sum_j f_j d_j(x) >= sum_j min over q of p_jq (pi_q/m_q + f_j).
struct HlpCertificate {
  std::vector<double> weights;    // Q + 1
  std::vector<double> task_flow;  // n
  std::vector<EdgeFlow> edge_flow;
};

}  // namespace cosched::dags::hlp
