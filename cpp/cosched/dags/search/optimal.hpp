// The algorithm `optimal`: an optimal schedule of a dozen tasks.
#pragma once

#include <optional>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/search/branch_and_bound.hpp"

namespace cosched::dags::search {

/// Tuning of optimal().
struct OptimalParams {
  int first_schedules = 500;  ///< that hlp_best() builds before branch and bound
  /// Share of the remaining time before the second turn of hlp_best(), and for it.
  double pause_share = 0.3;
};

struct OptimalOptions {
  /// Partial schedules that branch_and_bound() may examine.
  std::int64_t nodes = 5'000'000;
  std::optional<double> time_limit;  ///< seconds
  OptimalParams params = {};
};

/// Runs hlp_best() with few schedules, which proves most plans of a dozen tasks optimal, and then
/// branch_and_bound().  Under a time limit without a limit on nodes, hlp_best() gets another turn
/// when the default nodes are done or a share of the time has passed.
OptimalResult optimal(const Instance& instance, const OptimalOptions& options = {});

}  // namespace cosched::dags::search
