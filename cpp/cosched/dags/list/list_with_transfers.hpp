// Graham's list scheduling where data costs time.
#pragma once

#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// list_schedule() (list_rules.hpp) with transfers: no unit idles while the data of a task of its
/// type is there; among such tasks that of highest `priority` (equal: the lowest number) starts, on
/// the lowest unit that can take it.  O((n + e) log n + n U).
Plan list_with_transfers(const Instance& instance, const Allocation& allocation,
                         const std::vector<double>& priority);

}  // namespace cosched::dags::list
