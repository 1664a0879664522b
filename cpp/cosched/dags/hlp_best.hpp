// hlp-best: better schedules from the same LP optimum, with the guarantee of HLP-OLS.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/dags/hlp.hpp"
#include "cosched/dags/instance.hpp"
#include "cosched/dags/plan.hpp"

namespace cosched::dags {

struct BestOptions {
  std::uint64_t seed = 0;
  /// Schedules that the local search builds; negative: 4e6 / (n + e), between 50 and 2,000.
  int evaluations = -1;
  /// Seconds, the LP included.
  std::optional<double> time_limit;
};

struct BestResult {
  Plan plan;
  bool complete = true;    // false: a time limit ended the search
  HlpSolution relaxation;  // hlp_so_far(instance); empty where x was given
};

/// The best of
///   1. OLS after the paper's rounding (HLP-OLS: hence its guarantee, Q(Q+1));
///   2. OLS after other roundings of the same optimum: a type gets every task of which it has
///      a share of at least 0.05, 0.1, ..., 0.95;
///   3. HEFT, and insertion schedules by the LP's ranks (task lengths under x) in which a
///      task may only use types of which it has a share of at least 0.01, 0.1, 0.3;
///   4. a local search from the best allocation so far: some tasks, on the chain of tasks that
///      decides the makespan or with a fractional share, change their type; OLS decides.
/// `x` is any optimum of hlp(instance), null: its own.  A time limit may end it after HEFT and 1,
/// with the best x so far where it comes before the LP's end.  Deterministic without one.
BestResult hlp_best(const Instance& instance, const BestOptions& options = {},
                    const Table* x = nullptr);

}  // namespace cosched::dags
