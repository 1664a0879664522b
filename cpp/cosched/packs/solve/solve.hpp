// One door to each method: the instance says whether its tasks share something, and the method of
// room `shared` or that of tasks that do not slow each other answers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/heuristic/pack_choice.hpp"
#include "cosched/packs/model/coschedule.hpp"
#include "cosched/packs/search/local_search.hpp"

namespace cosched::packs::solve {

/// The paper's heuristics; packs of tasks that do not fit together are made to fit.  Guarantees and
/// errors are those of heuristic/ and shared/heuristics.hpp.
Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed);
Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed);
Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice = heuristic::PackChoice::kGreedy);

/// Annealing, for few tasks the optimum: search/local_search.hpp, shared/heuristics.hpp.
SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::int64_t work = search::kLocalSearchWork,
                          std::optional<double> time_limit = std::nullopt);

/// Exact: exact/optimal.hpp, shared/optimal.hpp.
Coschedule pairs(const Instance& instance);
ExactResult optimal(const Instance& instance, std::optional<double> time_limit = std::nullopt);

/// No co-schedule costs less: columns/column_bound.hpp, shared/optimal.hpp.
columns::LowerBound column_bound(const Instance& instance,
                                 std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::solve
