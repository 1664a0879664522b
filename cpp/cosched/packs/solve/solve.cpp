#include "cosched/packs/solve/solve.hpp"

#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/optimal.hpp"

namespace cosched::packs::solve {
namespace {

bool shares(const Instance& instance) { return instance.sharing() != nullptr; }

}  // namespace

Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  return (shares(instance) ? shared::random_pack : heuristic::random_pack)(instance, draws, seed);
}

Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  return (shares(instance) ? shared::random_proc : heuristic::random_proc)(instance, draws, seed);
}

Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice) {
  return (shares(instance) ? shared::pack_by_pack : heuristic::pack_by_pack)(instance, epsilons,
                                                                             choice);
}

SearchResult local_search(const Instance& instance, std::uint64_t seed, std::int64_t work,
                          std::optional<double> time_limit) {
  return (shares(instance) ? shared::local_search : search::local_search)(instance, seed, work,
                                                                          time_limit);
}

Coschedule pairs(const Instance& instance) {
  return (shares(instance) ? shared::pairs : exact::pairs)(instance);
}

ExactResult optimal(const Instance& instance, std::optional<double> time_limit) {
  return (shares(instance) ? shared::optimal : exact::optimal)(instance, time_limit);
}

columns::LowerBound column_bound(const Instance& instance, std::optional<double> time_limit) {
  return (shares(instance) ? shared::bound : columns::column_bound)(instance, time_limit);
}

}  // namespace cosched::packs::solve
