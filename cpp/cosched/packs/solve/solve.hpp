// Each method for every instance: calls the variant of shared/ where the tasks share something, and
// otherwise that of heuristic/, search/, columns/ or exact/.
#pragma once

#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/local_search.hpp"
#include "cosched/packs/shared/optimal.hpp"
#include "cosched/packs/shared/pairs.hpp"

namespace cosched::packs::solve {

/// Whether tasks of the instance share something.
inline bool has_sharing(const Instance& instance) { return instance.sharing() != nullptr; }

/// The paper's heuristics; packs of tasks that do not fit together are made to fit.  Guarantees and
/// errors are those of heuristic/ and shared/heuristics.hpp.
inline Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  return (has_sharing(instance) ? shared::random_pack : heuristic::random_pack)(instance, draws,
                                                                                seed);
}
inline Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  return (has_sharing(instance) ? shared::random_proc : heuristic::random_proc)(instance, draws,
                                                                                seed);
}
inline Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                               heuristic::PackChoice choice = heuristic::PackChoice::kGreedy) {
  return (has_sharing(instance) ? shared::pack_by_pack : heuristic::pack_by_pack)(instance,
                                                                                  epsilons, choice);
}

/// Annealing, for few tasks the optimum: search/local_search.hpp, shared/heuristics.hpp.
inline SearchedCoschedule local_search(const Instance& instance, std::uint64_t seed,
                                       std::optional<std::int64_t> work = std::nullopt,
                                       std::optional<double> time_limit = std::nullopt) {
  if (has_sharing(instance)) return shared::local_search(instance, seed, work, time_limit);
  return search::local_search(instance, seed, work, time_limit);
}

/// Exact: exact/optimal.hpp, shared/optimal.hpp.
inline Coschedule pairs(const Instance& instance) {
  return (has_sharing(instance) ? shared::pairs : exact::pairs)(instance);
}
inline ExactResult optimal(const Instance& instance,
                           std::optional<double> time_limit = std::nullopt) {
  if (has_sharing(instance)) return shared::optimal(instance, time_limit);
  return exact::optimal(instance, time_limit);
}

/// No co-schedule costs less: columns/column_bound.hpp, shared/optimal.hpp.
inline columns::LowerBound column_bound(const Instance& instance,
                                        std::optional<double> time_limit = std::nullopt) {
  if (has_sharing(instance)) return shared::bound(instance, time_limit);
  return columns::column_bound(instance, time_limit);
}

}  // namespace cosched::packs::solve
