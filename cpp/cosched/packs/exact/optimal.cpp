#include "cosched/packs/exact/optimal.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/exact/branch_price.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"
#include "cosched/packs/search/turns.hpp"

namespace cosched::packs::exact {
namespace {

ExactResult as_unproved(const Instance& instance, SearchedCoschedule start) {
  const double bound = std::max(area_bound(instance), longest_bound(instance));
  const double cost = start.coschedule.cost;
  return {std::move(start.coschedule), std::min(bound, cost), false, start.is_complete};
}

// Solves by the subset programme; returns `fallback` where a time limit ends it.
ExactResult solve_by_subsets(const Instance& instance, ExactResult fallback) {
  fallback.is_complete = finishes_within(std::nullopt, [&] {
    Coschedule best = search::subset_programme(instance);
    const double cost = best.cost;
    fallback = {std::move(best), cost, true, true};
  });
  return fallback;
}

// Improves a co-schedule by a short local search.
SearchedCoschedule improve_start(const Instance& instance, const SearchedCoschedule& start,
                                 const ExactParams& params) {
  const double seconds = seconds_left();
  std::optional<double> share;
  if (seconds < kInfinity) share = std::max(0.0, params.start_share * seconds);
  SearchedCoschedule result = search::local_search_from(
      instance, packs_of(start.coschedule.pack_of), 0, params.start_work, share);
  result.is_complete = true;  // the short search needs no more time
  return result;
}

// For instances with too many tasks for branch and price: the start with the column bound.
ExactResult bound_start(const Instance& instance, const Coschedule& start) {
  const columns::LowerBound bound = columns::column_bound(instance);
  const bool proved = bound.value >= start.cost * (1 - kExactTolerance);
  return {start, proved ? start.cost : bound.value, proved, bound.is_complete};
}

// Solves from a co-schedule by the method that fits the number of tasks: branch and price, the
// subset programme, or only the bound.
ExactResult solve_from_start(const Instance& instance, const Coschedule& start,
                             const ExactParams& params,
                             std::int64_t max_nodes = std::numeric_limits<std::int64_t>::max()) {
  if (instance.tasks() > params.max_branched_tasks) return bound_start(instance, start);
  const bool is_small = instance.tasks() <= search::kMaxSubsetTasks;
  ExactResult result =
      branch_and_price(instance, start, std::nullopt,
                       is_small ? std::min(params.nodes_before_subsets, max_nodes) : max_nodes);
  if (result.is_proved || !result.is_complete || !is_small) return result;
  return solve_by_subsets(instance, std::move(result));
}

// Under a limit: the rounds of local_search, seed 0, from its start.  Each begins with the best of
// the rounds before it, whatever the exact method returned: the rounds are those of local_search,
// so the result is no worse than its own after as many of them.
ExactResult solve_in_turns(const Instance& instance, const SearchedCoschedule& start,
                           const ExactParams& params, const search::TurnLimits& limits = {}) {
  ExactResult result = as_unproved(instance, start);
  search::TurnOrder turn_order;
  const auto take_turn = [&](const Coschedule& best, std::optional<double> seconds) {
    turn_order.note_turn();
    const ScopedTimeLimit limit(seconds);
    const Coschedule& incumbent = result.coschedule.cost < best.cost ? result.coschedule : best;
    ExactResult turn_result =
        solve_from_start(instance, Coschedule(incumbent), params, limits.nodes);
    turn_result.bound = std::max(result.bound, turn_result.bound);
    result = std::move(turn_result);
  };
  const SearchedCoschedule searched = search::local_search_from(
      instance, packs_of(start.coschedule.pack_of), 0, limits.work, std::nullopt,
      [&](SearchedCoschedule& best, bool has_improved, int round) {
        const search::Turn turn = turn_order.turn_after(round, has_improved);
        if (turn != search::Turn::kNone) take_turn(best.coschedule, turn_order.seconds_of(turn));
        return !result.is_proved;
      });
  if (result.is_proved) return result;
  if (turn_order.turns() == 0) take_turn(searched.coschedule, std::nullopt);
  if (searched.coschedule.cost < result.coschedule.cost) result.coschedule = searched.coschedule;
  const double cost = result.coschedule.cost;
  result.is_proved =
      result.is_proved || searched.is_proved || result.bound >= cost * (1 - kExactTolerance);
  result.bound = result.is_proved ? cost : std::min(result.bound, cost);
  result.is_complete = result.is_proved;
  return result;
}

}  // namespace

ExactResult optimal(const Instance& instance, std::optional<double> time_limit,
                    const ExactParams& params) {
  require_unshared(instance, "packs::exact::optimal");
  const ScopedTimeLimit limit(time_limit);
  const bool has_limit = seconds_left() < kInfinity;
  SearchedCoschedule start =
      has_limit ? search::first_schedule(instance) : heuristic::best_pack_by_pack(instance);
  if (!start.is_complete) return as_unproved(instance, std::move(start));
  if (instance.tasks() <= params.max_tasks_by_subsets) {
    if (has_limit) start = improve_start(instance, start, params);
    return solve_by_subsets(instance, as_unproved(instance, std::move(start)));
  }
  if (has_limit) return solve_in_turns(instance, start, params);
  return solve_from_start(instance, improve_start(instance, start, params).coschedule, params);
}

ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes,
                            const ExactParams& params) {
  require_unshared(instance, "packs::exact::optimal_by_work");
  return solve_in_turns(instance, search::first_schedule(instance), params, {work, nodes});
}

}  // namespace cosched::packs::exact
