#include "cosched/packs/exact.hpp"

#include <algorithm>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/packs/bounds.hpp"
#include "cosched/packs/heuristics.hpp"
#include "cosched/packs/subset_programme.hpp"

namespace cosched::packs {

ExactResult optimal(const Instance& instance, std::optional<double> time_limit) {
  std::optional<ScopedTimeLimit> limit;
  if (time_limit) limit.emplace(*time_limit);
  ExactResult result;
  result.coschedule = pack_by_pack(instance, nine_epsilons());
  result.bound = std::max(area_bound(instance), longest_bound(instance));
  if (instance.tasks() <= kMostSubsetTasks) {
    try {
      result.coschedule = subset_programme(instance);
      result.bound = result.coschedule.cost;
    } catch (const TimeLimit&) {
      if (!time_limit) throw;
    }
  }
  result.proved = result.bound >= result.coschedule.cost;
  return result;
}

}  // namespace cosched::packs
