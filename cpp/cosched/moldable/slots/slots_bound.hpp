// Lower bounds by prices of processor time (search/time_prices.hpp), for any profiles and releases.
#pragma once

#include <cstdint>

#include "cosched/moldable/bounds/makespan.hpp"

namespace cosched::moldable::slots {

struct SlotsOptions {
  int cells = 100;
  int rounds = 300;                 // sets of prices a deadline
  std::int64_t work = 100'000'000;  // counts x cells looked at in all
};

/// Between `lower`, a bound, and `upper`, the makespan of some schedule, to a thousandth: longer
/// and longer steps from the bound, then bisection over deadlines, each refuted or not.
bounds::BoundResult slots_bound(const Instance& instance, double lower, double upper,
                                const SlotsOptions& options = {});

/// The better of that and dual_approximation_bound; only the latter where the instance is too large
/// for prices to be worth the time (some 40 jobs on 32 processors).  Obeys the time limits around.
bounds::BoundResult slots_bound(const Instance& instance);

struct TimeIndexedOptions {
  int cells = 12, doublings = 3;    // at first, and how often there are twice as many
  std::int64_t work = 200'000'000;  // counts x cells looked at
};

/// On the minsum.  `upper`: the minsum of some schedule, and `horizon` its makespan: they choose
/// cells and steps, and no more.  O(n counts cells) for each set of prices.
bounds::BoundResult time_indexed_bound(const Instance& instance, double upper, double horizon,
                                       const TimeIndexedOptions& options = {});

/// With cells, work and a schedule chosen for the size of the instance; 0 where that is too large
/// for prices to be worth the time.  Obeys the time limits around it.
bounds::BoundResult time_indexed_bound(const Instance& instance);

}  // namespace cosched::moldable::slots
