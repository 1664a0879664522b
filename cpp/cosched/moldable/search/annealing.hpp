// Annealing on order and allotment, for one criterion.
#pragma once

#include <functional>

#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Called with a schedule that is better than those before it.
using Offer = std::function<void(Placement)>;

struct AnnealOptions {
  Objective objective = Objective::makespan;
  std::uint64_t seed = 0;
  std::int64_t work = 0;    // operations: breakpoints looked at, a few nanoseconds each
  double target_value = 0;  // a value at which it ends
};

/// From `start`; offers each better schedule.  May be left by an exception of check_interrupt().
///
/// A move takes out up to eight jobs (any, neighbours in time, or those that run at a moment,
/// preferably late) and puts each back where its end and the price of its area are least, at a
/// random price; or gives a job another count; or another place in the order.  Where jobs are few
/// every schedule is decoded anew, each job at its earliest fit; else only now and then.  The
/// temperature falls with the work that is done.
void anneal(const Instance& instance, Placement start, const AnnealOptions& options,
            const Offer& offer);

// Searches side by side, each from the same schedule with a seed of its own.

/// chain(k, own) for k = 0, ..., chains - 1 in threads: each calls `own` with better and better
/// schedules.  The last of each goes to `offer` in the order of k, so that how many threads there
/// are changes nothing; also those of chains that an exception ended, which is thrown thereafter.
void run_chains(int chains, const std::function<void(int, const Offer&)>& chain,
                const Offer& offer);

}  // namespace cosched::moldable::search
