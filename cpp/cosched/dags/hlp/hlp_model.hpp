// HLP / QHLP as a plain linear model, row by row as Amaris et al. 2017 have it, for any LP solver.
#pragma once

#include "cosched/dags/hlp/hlp_solution.hpp"
#include "cosched/lp/model.hpp"

namespace cosched::dags::hlp {

/// Columns: 0 = lambda; 1 .. n = C_j; then the shares.  Q = 2: x_j = CPU share, one column a
/// task, rows (1)-(5) of Section 3; Q > 2: x_jq task by task and rows (9)-(13) of
/// Section 5.  A share of a
/// type that cannot run the task is fixed to 0, with coefficients 0.
lp::Model hlp_model(const Instance& instance);

/// Reads x, C, value and the dual certificate from a solution of hlp_model.  The rows'
/// prices only approximate a certificate: flows are repaired, and what
/// certified_bound makes of them is the proven bound.
HlpSolution hlp_from_lp(const Instance& instance, const lp::Solution& solution);

}  // namespace cosched::dags::hlp
