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

#include <cstddef>

#include "cosched/dags/hlp/hlp_solution.hpp"

namespace cosched::dags::hlp {

struct StructuredParams {
  /// Links of the event network from which a query costs so much that a slice of the graph is
  /// queried first.
  std::size_t many_links = 100'000;
  /// Queries that look for an allocation which keeps the longest path of the fastest types.
  int within_path_rounds = 30;
  /// The share of the old weights in the next ones of these queries: a far jump costs many pivots,
  /// and any price will do.
  double old_weight_share = 0.7;
};

/// Solves HLP or QHLP, so that value and proof meet at a relative kExactTolerance.  Where a time
/// limit of the thread ends the call, or rounding errors do (for times of very different size; then
/// `failure` says so), `complete` is false: x and the certificate are the best so far, at worst
/// every task on its fastest type and the longest path under these times, and `value` is what x
/// reaches, LP* or more.
HlpSolution hlp_so_far(const Instance& instance, const StructuredParams& params = {});

}  // namespace cosched::dags::hlp
