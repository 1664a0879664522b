// Branch and price: the exact method beyond a handful of tasks.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::exact {

struct BranchPriceParams {
  /// Columns whose reduced cost is below this part of their length start the master of a node.
  double pool_margin = 0.05;
  /// Columns that are kept for later nodes.
  std::size_t max_pooled_columns = 50'000;
};

/// Proves the optimum, or ends at the time limit (seconds) or after `max_nodes` with the best
/// co-schedule and bound so far.
///
/// A node is a relaxation (column_relaxation.hpp) with restrictions that cost its pricing nothing
/// (branching.hpp): the number of packs of length >= D is at most m, or at least m + 1; the pack of
/// task i has a length >= D, or < D.  Where all these sums are integral, every task has one length
/// and every length an integral number of packs: then a search fills them (pack_filling.hpp), or a
/// task is pinned to its length.  The node of least bound is processed first.
///
/// Requires a feasible `start`.
ExactResult branch_and_price(const Instance& instance, const Coschedule& start,
                             std::optional<double> time_limit = std::nullopt,
                             std::int64_t max_nodes = std::numeric_limits<std::int64_t>::max(),
                             const BranchPriceParams& params = {});

}  // namespace cosched::packs::exact
