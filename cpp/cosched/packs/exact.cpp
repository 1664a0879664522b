#include "cosched/packs/exact.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/packs/bounds.hpp"
#include "cosched/packs/branch_price.hpp"
#include "cosched/packs/heuristics.hpp"
#include "cosched/packs/local_search.hpp"
#include "cosched/packs/subset_programme.hpp"

namespace cosched::packs {
namespace {

constexpr int kSubsetsFirst = 16;       // up to here the subset programme takes milliseconds
constexpr std::int64_t kFewNodes = 50;  // of branch and price, before it falls back on subsets
constexpr std::int64_t kStartWork = kLocalSearchWork / 5;
constexpr double kStartShare = 0.2;  // of the time limit, for the first co-schedule

std::optional<double> left(const Deadline& deadline) {
  const double seconds = deadline.remaining();
  if (seconds == kInfinity) return std::nullopt;
  return std::max(0.0, seconds);
}

ExactResult unproved(const Instance& instance, Coschedule coschedule) {
  const double bound = std::max(area_bound(instance), longest_bound(instance));
  const double cost = coschedule.cost;
  return {std::move(coschedule), std::min(bound, cost), false};
}

// The subset programme within the time that is left; `fallback` when it is not enough.
ExactResult by_subsets(const Instance& instance, const Deadline& deadline, ExactResult fallback) {
  const std::optional<double> seconds = left(deadline);
  std::optional<ScopedTimeLimit> limit;
  if (seconds) limit.emplace(*seconds);
  try {
    Coschedule best = subset_programme(instance);
    const double cost = best.cost;
    return {std::move(best), cost, true};
  } catch (const TimeLimit&) {
    if (!seconds) throw;
    return fallback;
  }
}

}  // namespace

ExactResult optimal(const Instance& instance, std::optional<double> time_limit) {
  const Deadline deadline(time_limit);
  Coschedule start = pack_by_pack(instance, nine_epsilons());
  if (instance.tasks() <= kSubsetsFirst)
    return by_subsets(instance, deadline, unproved(instance, std::move(start)));
  std::optional<double> share = left(deadline);
  if (share) *share *= kStartShare;
  start = local_search_from(instance, members(start.pack_of), 0, kStartWork, 1, share);
  const bool small = instance.tasks() <= kMostSubsetTasks;
  const ExactResult result =
      branch_and_price(instance, start, left(deadline),
                       small ? kFewNodes : std::numeric_limits<std::int64_t>::max());
  if (result.proved || !small) return result;
  return by_subsets(instance, deadline, result);
}

}  // namespace cosched::packs
