// The lower bound of column generation on the cost of every co-schedule, for any table.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

struct LowerBound {
  double value = 0;         ///< no co-schedule costs less
  bool is_complete = true;  ///< false: a time limit ended the call early, with a smaller bound
};

struct ColumnBoundParams {
  /// Operations of the column generation: some twenty seconds.
  std::int64_t max_operations = 20'000'000'000;
  /// Up to so many tasks only the relaxation with a row for each task is solved.
  int max_tasks_without_groups = 300;
  /// Beyond so many tasks only the relaxation of groups of tasks is solved.
  int max_tasks_with_rows = 1'200;
  /// Rows of the relaxation of groups, and the relative gap at which it ends.
  int max_group_rows = 300;
  double group_tolerance = 1e-3;
};

/// The value of the linear relaxation of set partitioning over all packs, by column generation; at
/// least area_bound() and longest_bound().  `time_limit`: seconds.  Where it ends the call, or a
/// fixed amount of work does, the bound is smaller and still valid.
LowerBound column_bound(const Instance& instance, std::optional<double> time_limit = std::nullopt,
                        const ColumnBoundParams& params = {});

}  // namespace cosched::packs::columns
