// ttb-best: TTB, then patterns, exchanges between machines, and annealing.
#pragma once

#include <optional>

#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags::search {

struct TtbBestResult {
  BagPlan plan;
  bool is_complete = true;        // false: a time limit ended the search
  bool is_proved = false;         // no plan earns more: it meets rate_bound
  double rate_bound = kInfinity;  // no plan earns more; infinity before the default work is done
};

struct TtbBestParams {
  /// Makespans of the first round, and of each further round, which is half as wide.
  int first_makespans = 24, makespans_per_refinement = 4;
  int refinement_rounds = 3;
  /// Makespans of one round at most, when the work beyond the default goes to more of them.
  int max_makespans = 1 << 20;
  /// Makespans among which those are counted that may earn more than the best plan.
  int makespan_grid = 1000;
  /// Rounds of column generation for one makespan.
  int pricing_rounds = 60;
  /// Task and machine types together, up to which there are patterns.
  int max_pattern_types = 400;
  /// Machines up to which exchanges are made, and machines up to which parts of a plan are made
  /// anew.
  std::int64_t max_exchange_machines = 1'000'000, max_recreation_machines = 20'000;
  /// Seconds that the plans to start from may take, whatever the time limit.
  double start_seconds = 0.5;
  /// Limits of the loads that one polishing tries, and exchanges that it looks at.
  int limits_per_polishing = 8;
  std::int64_t exchanges_per_polishing = 20'000'000;
  /// Moves of one annealing at first.  So many annealings have the same length, the next ones twice
  /// that length, up to a number of doublings.
  std::int64_t moves_per_annealing = 60'000;
  int annealings_per_length = 6, max_doublings = 30;
  /// Tasks, and machines, up to which there are annealings.
  std::int64_t max_annealed_tasks = 1000;
  /// What a step costs, in moves of the annealing that take as long.
  std::int64_t dive_work = 300'000, recreation_work = 30'000, bound_work = 30'000;
  /// Work of each kind of step in the first turn.
  std::int64_t first_turn_work = 300'000;
  /// Machines that are filled anew at once.
  int max_recreated_machines = 40;
  /// How far from the best makespan a dive begins, as a part of it.
  double near_makespan = 0.01;
  /// Dives that begin near the best makespan, and those of them that begin below it.
  double near_dive_share = 0.5, shorter_dive_share = 0.75;
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
                       std::optional<double> time_limit = std::nullopt,
                       const TtbBestParams& params = {});

}  // namespace cosched::bags::search
