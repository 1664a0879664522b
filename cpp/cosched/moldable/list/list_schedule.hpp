// A list schedule of jobs whose counts are decided.
#pragma once

#include "cosched/moldable/list/list_scheduler.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// Schedules the jobs in `order` (each once) with a given allotment, each on those of its
/// processors that it uses.  Requires procs[i] >= fewest_procs(i).
///
/// Where jobs share something it is Decoder::decode() without bans (decoder.hpp), on counts on
/// which each job fits, whatever the rule.  Throws InvalidInstance where jobs have precedence.
Placement list_schedule(const Instance& instance, const Allotment& procs,
                        const std::vector<int>& order, ListRule rule = ListRule::list);

}  // namespace cosched::moldable::list
