// ttb-best: TTB, then patterns, exchanges between machines, and annealing.
#pragma once

#include <optional>

#include "cosched/bags/model/plan.hpp"

namespace cosched::bags::search {

struct TtbBestResult {
  Plan plan;
  bool is_complete = true;        // false: a time limit ended the search
  bool is_proved = false;         // no plan earns more: it meets rate_bound
  double rate_bound = kInfinity;  // no plan earns more; infinity before the default work is done
};

/// Work of the last step by default: moves of the annealing.
inline constexpr std::int64_t kBestWork = 360'000;

/// Never below ttb (kDefaultEps), ttb_exact, tms, min_energy and min_makespan, from which it
/// starts; they may take half a second whatever the time limit, and a limit that ends them after
/// that leaves the best of those done, min_energy at least.  Then, for makespans L whose relaxation
/// earns more than the best plan so far:
///
/// 1. patterns of one machine within L by column generation (patterns.hpp), rounded down; the rest
///    by Algorithms A and B;
/// 2. moves and swaps between machines of one or two types (exchanges.hpp) until every load is
///    within L, at the least cost in energy and machine time.
///
/// The makespans are spread over where a better plan can be, then closer around the best.  At last,
/// on up to a thousand tasks and machines, simulated annealing without a makespan in mind
/// (annealing.hpp): power caps and idle power reward plans that no limit on the loads leads to.
/// `work` beyond the default goes by turns to a tighter bound (rate_bound.hpp), dives into the
/// patterns, parts of the plan made anew (recreation.hpp), and longer and longer annealings; where
/// there are too many types for patterns, to step 1 and 2 at more and more makespans.
/// Deterministic, unless the time limit (seconds) ends it.  Steps whose cost grows with the
/// instance are bounded: step 1 only up to 400 task and machine types together, both only up to a
/// million machines. Throws InvalidInstance when work < 0.
TtbBestResult ttb_best(const Instance& instance, std::int64_t work = kBestWork,
                       std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::bags::search
