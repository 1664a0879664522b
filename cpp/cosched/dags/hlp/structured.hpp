// The structured exact method for HLP / QHLP.
//
// 1. Area proof.  Without the paths the optimum is a fractional assignment that balances the
//    loads; if its longest path is not above the loads, it is LP*.
// 2. Path proof.  If the loads of "every task on its fastest type" are not above the longest
//    path under those times, that path is LP*.
// 3. Otherwise LP* = max over weights pi on (loads, path) of min over x of the weighted sum
//    of the measures.  Column generation: the master is a matrix game with Q + 1 rows over
//    the x's found so far, the inner problem is a flow (trade_off.hpp), queried at weights
//    between the best so far and the master's (opt/outer_problem.hpp).  On a large graph a slice of
//    it says where to query first (slice_model.hpp).
#pragma once

#include "cosched/dags/hlp/hlp_solution.hpp"

namespace cosched::dags::hlp {

/// Solves HLP or QHLP, so that value and proof meet at a relative kExactTolerance.  Where a time
/// limit of the thread ends the call, or rounding errors do (for times of very different size; then
/// `failure` says so), `complete` is false: x and the certificate are the best so far, at worst
/// every task on its fastest type and the longest path under these times, and `value` is what x
/// reaches, LP* or more.
HlpSolution hlp_so_far(const Instance& instance);

}  // namespace cosched::dags::hlp
