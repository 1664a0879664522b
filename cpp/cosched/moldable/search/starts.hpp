// First schedules for the search: all algorithms of the family, and canonical allotments.
#pragma once

#include "cosched/moldable/search/chains.hpp"

namespace cosched::moldable::search {

/// Seconds that first schedules may take, whatever the time limit.
inline constexpr double kStartSeconds = 0.5;

/// Offers what any search has, whatever its limit: gang and sequential, by batches where jobs have
/// release dates.  O(n log n).
void offer_simple_schedules(const Instance& instance, const Offer& offer);

/// Offers the algorithms of the family (demt, the dual approximation, its allotment in three
/// orders, marginal costs), by batches where jobs have release dates.  May throw as
/// check_interrupt().
void offer_family_schedules(const Instance& instance, std::uint64_t seed, const Offer& offer);

/// Offers lists of canonical allotments: for deadlines d between the bound and twice as much, each
/// job on the cheapest count that keeps d, in orders by time, work, weight / time and weight /
/// work.
void offer_canonical_lists(const Instance& instance, double bound, const Offer& offer);

}  // namespace cosched::moldable::search
