#include "cosched/packs/shared/optimal.hpp"

#include "cosched/lp/glpk.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/turns.hpp"
#include "cosched/packs/shared/cheapest_cover.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/local_search.hpp"
#include "cosched/packs/shared/subsets.hpp"

namespace cosched::packs::shared {
namespace {

// A cheapest partition into the columns by GLPK, for where cheapest_cover() does not end.
CoverResult cover_by_programme(int tasks, const std::vector<SetRelaxation::SetColumn>& columns,
                               double budget) {
  lp::Model model;
  for (int i = 0; i < tasks; ++i) model.add_row(1, 1);
  for (const SetRelaxation::SetColumn& column : columns) {
    const int c = model.add_column(column.reduced_cost, 0, 1, true);
    for (const int i : column.tasks) model.add_entry(i, c, 1);
  }
  const lp::Solution solution = lp::solve_glpk(model);
  CoverResult result;
  result.is_complete = solution.status != lp::Status::time_limit;
  if (solution.x.empty()) return result;
  result.packs.emplace();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (solution.x[c] > 0.5) {
      result.packs->push_back(columns[c].tasks);
      result.sum += columns[c].reduced_cost;
    }
  if (!(result.sum < budget)) result.packs.reset();
  return result;
}

// Requires a solved relaxation.  Puts an optimal co-schedule into `best`, unless too many sets
// could be in one.
void prove_by_cover(const Instance& instance, PackTable& table, SetRelaxation& relaxation,
                    std::int64_t max_nodes, const SharedOptimalParams& params, ExactResult& best) {
  const double cost = best.coschedule.cost;
  const auto columns = relaxation.useful_columns(cost, params.max_columns, max_nodes);
  if (!columns) return;
  const double budget = cost * (1 + kExactTolerance) - relaxation.bound();
  CoverResult cover = cheapest_cover(instance.tasks(), *columns, budget, params.cover_nodes);
  if (!cover.is_complete && columns->size() <= params.max_programmed_columns) {
    CoverResult other = cover_by_programme(instance.tasks(), *columns, budget);
    if (other.is_complete || other.sum < cover.sum) cover = std::move(other);
  }
  if (cover.packs) {
    Coschedule coschedule = coschedule_at_prices(instance, table, *cover.packs);
    if (coschedule.cost < best.coschedule.cost) best.coschedule = std::move(coschedule);
  }
  if (!cover.is_complete) return;
  best.is_proved = true;
  best.bound = best.coschedule.cost;
}

// Improves `best` by the bounds of both relaxations, and by an optimum where there are few enough
// sets.  Each search for sets visits at most `max_nodes` nodes.
void prove_by_sets(const Instance& instance, const Instance& unshared, std::int64_t max_nodes,
                   const SharedOptimalParams& params, ExactResult& best) {
  PackTable table(instance);
  std::optional<SetRelaxation> relaxation;
  best.is_complete = finishes_within(std::nullopt, [&] {
    const columns::LowerBound plain_bound = columns::column_bound(unshared);
    best.bound = std::max(best.bound, plain_bound.value);
    relaxation.emplace(instance, table);
    relaxation->add_packs(packs_of(best.coschedule.pack_of));
    relaxation->solve(max_nodes);
    prove_by_cover(instance, table, *relaxation, max_nodes, params, best);
  });
  const double cost = best.coschedule.cost;
  if (relaxation) best.bound = std::max(best.bound, relaxation->bound());
  best.bound = std::min(best.bound, cost);
  best.is_proved = best.is_proved || best.bound >= cost * (1 - kExactTolerance);
}

// Takes a co-schedule into `best` if it is better.
void offer(const Coschedule& coschedule, ExactResult& best) {
  if (coschedule.cost < best.coschedule.cost) best.coschedule = coschedule;
}

// A first co-schedule, with the bounds by work and by the longest task.
ExactResult make_start(const Instance& instance, const Instance& unshared) {
  ExactResult best;
  best.coschedule = without_deadline([&] { return pack_by_pack(instance, {0.5}); });
  best.bound =
      std::min(std::max(area_bound(unshared), longest_bound(unshared)), best.coschedule.cost);
  return best;
}

// Under a limit: the rounds of local_search, each from the best of those before it, whatever the
// proof returned: so the result is no worse than its own after as many of them.
ExactResult solve_in_turns(const Instance& instance, const Instance& unshared, ExactResult best,
                           const SharedOptimalParams& params,
                           const search::TurnLimits& limits = {}) {
  const std::int64_t max_nodes = std::min(limits.nodes, params.proof_nodes);
  search::TurnOrder turn_order;
  const SearchedCoschedule searched =
      local_search(instance, 0, limits.work, std::nullopt,
                   [&](SearchedCoschedule& round_best, bool has_improved, int round) {
                     offer(round_best.coschedule, best);
                     const search::Turn turn = turn_order.turn_after(round, has_improved);
                     if (turn == search::Turn::kNone) return true;
                     turn_order.note_turn();
                     const ScopedTimeLimit turn_limit(turn_order.seconds_of(turn));
                     prove_by_sets(instance, unshared, max_nodes, params, best);
                     return !best.is_proved;
                   });
  if (best.is_proved) return best;
  offer(searched.coschedule, best);
  if (turn_order.turns() == 0) prove_by_sets(instance, unshared, max_nodes, params, best);
  if (best.is_proved) return best;
  best.is_proved = searched.is_proved || best.bound >= best.coschedule.cost * (1 - kExactTolerance);
  best.bound = best.is_proved ? best.coschedule.cost : std::min(best.bound, best.coschedule.cost);
  best.is_complete = best.is_proved;
  return best;
}

}  // namespace

ExactResult optimal(const Instance& instance, std::optional<double> time_limit,
                    const SharedOptimalParams& params) {
  const ScopedTimeLimit limit(time_limit);
  const Instance unshared = instance.without_sharing();
  ExactResult best = make_start(instance, unshared);
  if (instance.tasks() <= kMaxSubsetTasks) {
    best = subsets(instance, std::move(best));
    if (best.is_proved || !best.is_complete) return best;
  }
  if (seconds_left() < kInfinity)
    return solve_in_turns(instance, unshared, std::move(best), params);
  offer(local_search(instance, 0, std::nullopt, std::nullopt).coschedule, best);
  prove_by_sets(instance, unshared, params.proof_nodes, params, best);
  return best;
}

ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes,
                            const SharedOptimalParams& params) {
  const Instance unshared = instance.without_sharing();
  return solve_in_turns(instance, unshared, make_start(instance, unshared), params, {work, nodes});
}

columns::LowerBound bound(const Instance& instance, std::optional<double> time_limit,
                          const SharedOptimalParams& params) {
  const ScopedTimeLimit limit(time_limit);
  columns::LowerBound result = columns::column_bound(instance.without_sharing());
  if (instance.tasks() > params.max_bounded_tasks || instance.max_tasks() == 1) return result;
  PackTable table(instance);
  std::optional<SetRelaxation> relaxation;
  const bool is_complete = finishes_within(std::nullopt, [&] {
    relaxation.emplace(instance, table);
    relaxation->solve(params.bound_nodes);
  });
  if (relaxation) result.value = std::max(result.value, relaxation->bound());
  result.is_complete = result.is_complete && is_complete;
  return result;
}

}  // namespace cosched::packs::shared
