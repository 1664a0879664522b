// Lower bound on the minsum: the best prices of a machine's slots (slots_bound.hpp), by a
// subgradient method; its end is the limit's or the work's to choose.
#pragma once

#include <cstdint>

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::slots {

struct TimeIndexedOptions {
  int slots = 96;
  std::int64_t work = 200'000'000;  // columns looked at
};

struct TimeIndexedBound {
  double value = 0;
  bool complete = true;  // false: a time limit ended the search for prices
};

/// `upper`: the minsum of some schedule, and `horizon` its makespan: they choose grid and steps,
/// and no more.  O(n counts slots) for each set of prices.
TimeIndexedBound time_indexed_bound(const Instance& instance, double upper, double horizon,
                                    const TimeIndexedOptions& options = {});

/// With slots, work and a schedule chosen for the size of the instance; 0 where that is too large
/// for prices to be worth the time.  Obeys the time limits around it.
TimeIndexedBound time_indexed_bound(const Instance& instance);

}  // namespace cosched::moldable::slots
