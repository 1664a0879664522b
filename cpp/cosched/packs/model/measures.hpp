// The paper's three measures of a co-schedule, and its schedule.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs {

/// Work done over processor time paid for: sum_i w_i(sigma_i) / (p cost), in 0..1.
double packing_ratio(const Instance& instance, const Coschedule& coschedule);

/// cost / sum_i t_i(p), of counts on which task i fits: below 1 where co-scheduling beats one task
/// after the other.
double relative_cost(const Instance& instance, const Coschedule& coschedule);

/// Mean response time over that of one task after the other on p processors, shortest first.
/// Packs run in increasing cost, ties by pack number.
double relative_response_time(const Instance& instance, const Coschedule& coschedule);

/// Packs one after the other in the order of relative_response_time; task i of a pack gets the
/// lowest processor numbers that the pack's tasks before i left.
Schedule to_schedule(const Instance& instance, const Coschedule& coschedule);

}  // namespace cosched::packs
