// LP* by the method of choice.
#pragma once

#include <functional>

#include "cosched/dags/hlp/certificate.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/lp/model.hpp"

namespace cosched::dags::hlp {

// HLP and QHLP: the linear relaxation of the allocation problem (Amaris, Lucarelli, Mommessin,
// Trystram 2017, Sections 3 and 5), and what every way to solve it comes to.
//
//   minimise lambda                                        (the value is LP*)
//   C_i + sum_q p_jq x_jq <= C_j       for every edge (i, j)
//         sum_q p_jq x_jq <= C_j       for every task without predecessors
//   C_j <= lambda,   (1/m_q) sum_j p_jq x_jq <= lambda,   sum_q x_jq = 1,   x_jq >= 0,
//   x_jq = 0 where p_jq is infinite.
//
// LP* is a lower bound on the makespan of every schedule.

struct Solution {
  double value = 0;                // LP*: loads and path of x
  Table x;                         // (n, Q)
  std::vector<double> completion;  // C, earliest ends under x
  Certificate certificate;
  int flows = 0;         // network flows solved (structured method)
  bool complete = true;  // false: see hlp_so_far
  std::string failure;   // why the method ended before its optimum; empty: it did not
};

enum class Method {
  structured,   // area proof, then time-cost trade-off flows: exact to 1e-9, any Q
  glpk,         // the model of hlp.hpp, in GLPK: the reference
  glpk_primal,  // the same as glpsol solves it by default, and so as Amaris et al. 2017 did
};

/// Throws SolverError when the method fails, TimeLimit where a limit of the thread ends it.
Solution hlp(const Instance& instance, Method method = Method::structured);

// Times of the order of 1, for methods with tolerances.

/// A solution of `solve` for the instance.  Where its bound is far from 1 (below 2^-20, above 2^20)
/// `solve` sees all times divided by a power of two, which rounds nothing; certificates have no
/// unit.
Solution at_ordinary_scale(const Instance& instance,
                           const std::function<Solution(const Instance&)>& solve);

// HLP / QHLP as a plain linear model, row by row as Amaris et al. 2017 have it, for any LP solver.

/// Columns: 0 = lambda; 1 .. n = C_j; then the shares.  Q = 2: x_j = CPU share, one column a
/// task, rows (1)-(5) of Section 3; Q > 2: x_jq task by task and rows (9)-(13) of
/// Section 5.  A share of a
/// type that cannot run the task is fixed to 0, with coefficients 0.
lp::Model hlp_model(const Instance& instance);

/// Reads x, C, value and the dual certificate from a solution of hlp_model.  The rows'
/// prices only approximate a certificate: flows are repaired, and what
/// certified_bound makes of them is the proven bound.
Solution hlp_from_lp(const Instance& instance, const lp::Solution& solution);

}  // namespace cosched::dags::hlp
