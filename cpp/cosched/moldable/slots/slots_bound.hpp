// Lower bound on the makespan: the longest deadline that prices of slots refute (slot_pricing.hpp).
#pragma once

#include <cstdint>

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::slots {

struct SlotsOptions {
  int slots = 100;
  int rounds = 300;                 // sets of prices a deadline
  std::int64_t work = 100'000'000;  // columns looked at in all
};

struct SlotsBound {
  double value = 0;
  bool complete = true;  // false: a time limit ended the search
};

/// Between `lower`, a bound, and `upper`, the makespan of some schedule, to a thousandth: longer and
/// longer steps from the bound, then bisection.
/// A deadline is refuted where prices are found at which the jobs, each in its cheapest column that
/// keeps the deadline, pay more than the machine is worth: multiplicative weights on the rows.
SlotsBound slots_bound(const Instance& instance, double lower, double upper,
                       const SlotsOptions& options = {});

/// The better of that and dual_approximation_bound; only the latter where the instance is too large
/// for prices to be worth the time (some 40 jobs on 32 processors).  Obeys the time limits around.
SlotsBound slots_bound(const Instance& instance);

}  // namespace cosched::moldable::slots
