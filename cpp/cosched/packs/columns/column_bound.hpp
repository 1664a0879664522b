// The lower bound of column generation on the cost of every co-schedule, for any table.
#pragma once

#include <optional>

#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

struct LowerBound {
  double value = 0;
  bool complete = true;  // false: a time limit ended the call, a smaller value is what it has
};

/// The linear relaxation of set partitioning over all packs, by column generation; never below
/// area_bound and longest_bound.  A time limit, or the fixed work that ends the call without one,
/// gives a smaller, still valid value.
LowerBound column_bound(const Instance& instance, std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::columns
