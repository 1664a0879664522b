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
//    slice of it says (slice_model.hpp).
#pragma once

#include "cosched/dags/hlp.hpp"

namespace cosched::dags {

// The method is hlp_so_far (hlp.hpp); upper and lower bound meet at kExactTolerance relative.

/// max over q of the loads only: the area bound, and its weights.
struct AreaOptimum {
  double value = 0;
  std::vector<double> weights;  // Q, sum 1
  Table x;
};
AreaOptimum balance_loads(const Instance& instance);

}  // namespace cosched::dags
