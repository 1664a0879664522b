// Annealing on order and allotment of jobs that share nothing and wait for nobody.
#pragma once

#include "cosched/moldable/search/chains.hpp"

namespace cosched::moldable::search {

struct AnnealOptions {
  Objective objective = Objective::makespan;
  std::uint64_t seed = 0;
  std::int64_t work = 0;    // operations: breakpoints looked at, a few nanoseconds each
  double target_value = 0;  // the annealing ends when this value is reached
};

struct AnnealingParams {
  /// Up to so many jobs every move decodes the whole schedule anew.
  int few_jobs = 80;
  /// Jobs that a move takes out at most.
  int max_removed_jobs = 8;
  /// Counts of a job that are tried when it is put back, about.
  std::size_t tried_counts = 12;
  /// The part of a job's own end that counts beside the end of all jobs (makespan).
  double end_part = 0.02;
  /// Temperatures at first and at last, as parts of the value.
  double first_temperature = 0.02, last_temperature = 0.0002;
  /// The temperature of more jobs falls with their number, as each has a smaller part in the value.
  double hot_jobs = 4;
  /// Annealings from the best schedule so far, where jobs are few.
  int rounds = 4;
  /// Moves at one temperature.
  int moves_per_temperature = 16;
};

/// Anneals from `start` and offers each better schedule.  May throw as check_interrupt().
///
/// A move takes out up to eight jobs (any, neighbours in time, or those that run at a moment,
/// preferably a late one) and puts each back where its end and the price of its area are least, at
/// a random price (ruin and recreate: Schrimpf et al. 2000); or it changes the count of a job or
/// its place in the order.  Where jobs are few every schedule is decoded anew, each job at its
/// earliest fit; else only now and then.  The temperature falls with the work that is done.
void anneal(const Instance& instance, Placement start, const AnnealOptions& options,
            const Offer& offer, const AnnealingParams& params = {});

}  // namespace cosched::moldable::search
