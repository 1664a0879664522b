// HLP and QHLP: the linear relaxation of the allocation problem (Sections 3 and 5), and the
// rounding of its optimum.
//
//   minimise lambda                                        (the value is LP*)
//   C_i + sum_q p_jq x_jq <= C_j       for every edge (i, j)
//         sum_q p_jq x_jq <= C_j       for every task without predecessors
//   C_j <= lambda,   (1/m_q) sum_j p_jq x_jq <= lambda,   sum_q x_jq = 1,   x_jq >= 0,
//   x_jq = 0 where p_jq is infinite.
//
// LP* is a lower bound on the makespan of every schedule.
#pragma once

#include <vector>

#include "cosched/dags/event_network.hpp"
#include "cosched/dags/instance.hpp"

namespace cosched::dags {

/// Proof that LP* >= value: weights pi >= 0 of the Q loads and of the path, sum 1, and a
/// flow of at most pi_path from the begin of the project through tasks to its end:
/// through task j task_flow[j], on edges edge_flow.  For every x, lambda >=
///   sum_q pi_q load_q + sum_j f_j d_j(x) >= sum_j min over q of p_jq (pi_q/m_q + f_j).
struct Certificate {
  std::vector<double> weights;    // Q + 1
  std::vector<double> task_flow;  // n
  std::vector<EdgeFlow> edge_flow;
};

/// The bound that the certificate proves, checked from scratch: flow conserved, amounts
/// >= 0, sums right up to 1e-9 (a breach throws SolverError).  Shares no code with the
/// solvers.  O(n Q + e).
double certified_bound(const Instance& instance, const Certificate& certificate);

struct HlpSolution {
  double value = 0;                // LP*: loads and path of x
  Table x;                         // (n, Q)
  std::vector<double> completion;  // C, earliest ends under x
  Certificate certificate;
  int flows = 0;         // network flows solved (structured method)
  bool complete = true;  // false: see hlp_so_far
};

enum class HlpMethod {
  structured,   // area proof, then time-cost trade-off flows: exact to 1e-9, any Q
  glpk,         // the model above, in GLPK: the reference
  glpk_primal,  // the same as glpsol solves it by default, and so as the paper did: to compare
};

/// Throws SolverError when the method fails.
HlpSolution hlp(const Instance& instance, HlpMethod method = HlpMethod::structured);

/// The structured method, which a time limit of the thread may end: then x and the certificate are
/// the best so far (at worst every task on its fastest type, and the path that this gives), `value`
/// is what x reaches, LP* or more, and `complete` is false.
HlpSolution hlp_so_far(const Instance& instance);

/// Rounding.  Q = 2: CPU (type 0) iff x_j0 >= threshold, with tolerance 1e-9 (0.5 in the
/// paper); otherwise the type of largest x_jq, ties within 1e-9 to the one with the smaller
/// time.  A type that cannot run the task is never chosen.
Allocation round_allocation(const Table& times, const Table& x, double threshold = 0.5);

/// Each task on its cheapest type where a load costs its weight and every task has the same flow
/// (ties: the lowest type): the certificate's sum with what is known before the flow is.
Allocation cheapest_types(const Instance& instance, const std::vector<double>& weights,
                          double flow);

}  // namespace cosched::dags
