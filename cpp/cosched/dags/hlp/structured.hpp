// The structured exact method for HLP / QHLP.
//
// 1. Area proof.  Without the paths the optimum is a fractional assignment that balances the
//    loads; if its longest path is not above the loads, it is LP*.
// 2. Path proof.  If the loads of "every task on its fastest type" are not above the longest
//    path under those times, that path is LP*.
// 3. Otherwise LP* = max over weights pi on (loads, path) of min over x of the weighted sum
//    of the measures.  Column generation: the master is a matrix game with Q + 1 rows over
//    the x's found so far, the inner problem is trade_off.hpp's flow, queried at weights
//    between the best so far and the master's (hlp_outer.hpp); of a large graph first where a
//    slice of it says (trade_off.hpp).
#pragma once

#include "cosched/dags/hlp/hlp.hpp"

namespace cosched::dags::hlp {

/// The method, which a time limit of the thread may end: then x and the certificate are the best so
/// far (at worst every task on its fastest type, and the path that this gives), `value` is what x
/// reaches, LP* or more, and `complete` is false.  The same where rounding errors stop it (times of
/// very different size): then `failure` says what happened.  Otherwise value and proof meet at
/// kExactTolerance relative.
Solution hlp_so_far(const Instance& instance);

}  // namespace cosched::dags::hlp
