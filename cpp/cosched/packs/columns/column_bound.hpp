// The lower bound of column generation on the cost of every co-schedule, for any table.
#pragma once

#include <optional>

#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

struct LowerBound {
  double value = 0;         ///< no co-schedule costs less
  bool is_complete = true;  ///< false: a time limit ended the call early, with a smaller bound
};

/// The value of the linear relaxation of set partitioning over all packs, by column generation; at
/// least area_bound() and longest_bound().  `time_limit`: seconds.  Where it ends the call, or a
/// fixed amount of work does, the bound is smaller and still valid.
LowerBound column_bound(const Instance& instance, std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::columns
