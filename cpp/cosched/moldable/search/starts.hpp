// First schedules for the search: all algorithms of the family, and canonical allotments.
#pragma once

#include "cosched/moldable/search/annealing.hpp"

namespace cosched::moldable::search {

/// Seconds that first schedules may take, whatever the time limit.
inline constexpr double kStartSeconds = 0.5;

/// What any search has, whatever its limit: gang and sequential, by batches where jobs are
/// released.
/// O(n log n).
void offer_simple_schedules(const Instance& instance, const Offer& offer);

/// The family's algorithms (demt, the dual approximation, its allotment in three orders, the
/// marginal costs), by batches where jobs are released.  May be left by check_interrupt().
void offer_family_schedules(const Instance& instance, std::uint64_t seed, const Offer& offer);

/// Lists of canonical allotments: for deadlines d between the bound and twice as much, each job on
/// the cheapest count that keeps d, in orders by time, work, weight / time and weight / work.
void offer_canonical_lists(const Instance& instance, double bound, const Offer& offer);

}  // namespace cosched::moldable::search
