// Proof of a bound on the makespan of jobs with precedence: what a solver hands over, and all that
// a check knows.
#pragma once

#include "cosched/core/task_graph.hpp"

namespace cosched::moldable::graph {

/// Weights pi >= 0 of the work, of each resource in the order of the instance and of the longest
/// path, sum 1; and a flow of at most pi_path from the begin of the project through jobs to its
/// end: through job i flow f_i, of which what comes from no edge waits for the release.  For every
/// schedule of makespan C,
///   C >= pi_work work / m + sum_r pi_r area_r / A_r + pi_path path
///     >= sum_i min over q of t_i(q) (pi_work q / m + sum_r pi_r a_ir(q) / A_r + f_i)  +  sum_i
///     begun_i r_i.
struct WorkPathCertificate {
  std::vector<double> weights;    // 2 + resources
  std::vector<double> task_flow;  // n
  std::vector<EdgeFlow> edge_flow;
};

}  // namespace cosched::moldable::graph
