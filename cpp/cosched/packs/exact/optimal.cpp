#include "cosched/packs/exact/optimal.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/lemon.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/exact/branch_price.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"

namespace cosched::packs::exact {
namespace {

struct Split {
  double cost;
  int procs;  // of the first task; the second has the others
};

// Least cost of tasks i and j together; infinite where they do not fit.
Split best_split(const Times& times, int i, int j) {
  const int p = times.procs();
  Split split{kInfinity, 0};
  for (int q = 1; q < p; ++q) {
    const double longest = std::max(times(i, q), times(j, p - q));
    if (longest < split.cost) split = {longest, q};
  }
  return split;
}

std::vector<opt::WeightedEdge> savings(const Times& times) {
  const int n = times.tasks();
  std::vector<opt::WeightedEdge> edges;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const double saved = times.least(i) + times.least(j) - best_split(times, i, j).cost;
      if (saved > 0) edges.push_back({i, j, saved});
    }
    check_interrupt();
  }
  return edges;
}

constexpr int kSubsetsFirst = 16;       // up to here the subset programme takes milliseconds
constexpr std::int64_t kFewNodes = 50;  // of branch and price, before it falls back on subsets
constexpr std::int64_t kStartWork = search::kLocalSearchWork / 5;
constexpr int kMostBranched = 1'200;  // tasks: beyond, only the bound of groups is affordable
constexpr double kStartShare = 0.2;   // of the time limit, for the first co-schedule

ExactResult unproved(const Instance& instance, SearchResult start) {
  const double bound = std::max(area_bound(instance), longest_bound(instance));
  const double cost = start.coschedule.cost;
  return {std::move(start.coschedule), std::min(bound, cost), false, start.complete};
}

// The subset programme; `fallback` where a time limit ends it.
ExactResult by_subsets(const Instance& instance, ExactResult fallback) {
  fallback.complete = finishes_within(std::nullopt, [&] {
    Coschedule best = search::subset_programme(instance);
    const double cost = best.cost;
    fallback = {std::move(best), cost, true, true};
  });
  return fallback;
}

// A short local search.
SearchResult improved(const Instance& instance, const SearchResult& start) {
  const double left = seconds_left();
  std::optional<double> share;
  if (left < kInfinity) share = std::max(0.0, kStartShare * left);
  SearchResult found =
      search::local_search_from(instance, members(start.coschedule.pack_of), 0, kStartWork, share);
  found.complete = true;  // of what it was given
  return found;
}

// For instances with too many tasks for branch and price: the bound, and what is left of a time
// limit for the search.
ExactResult bounded(const Instance& instance, SearchResult start) {
  const columns::LowerBound bound = columns::column_bound(instance);
  const auto met = [&] { return bound.value >= start.coschedule.cost * (1 - kExactTolerance); };
  bool complete = bound.complete;
  if (complete && !met() && seconds_left() < kInfinity) {  // a limit is a budget
    SearchResult better = search::local_search_from(instance, members(start.coschedule.pack_of), 1,
                                                    kUnlimitedWork, std::nullopt);
    complete = better.complete;
    if (better.coschedule.cost < start.coschedule.cost) start = std::move(better);
  }
  const bool proved = met();
  const double cost = start.coschedule.cost;
  return {std::move(start.coschedule), proved ? cost : bound.value, proved, complete};
}

}  // namespace

Coschedule pairs(const Instance& instance) {
  if (instance.max_tasks() > 2)
    throw InvalidInstance("max_tasks = " + std::to_string(instance.max_tasks()) +
                          ": expected 1 or 2 for pairs (optimal takes any)");
  const Times& times = instance.times();
  const int n = instance.tasks(), p = instance.procs();
  std::vector<int> partner(n, -1);
  if (instance.max_tasks() == 2) partner = opt::maximum_weight_matching(n, savings(times));
  Packs packs;
  std::vector<int> procs(n);
  for (int i = 0; i < n; ++i) {
    const int j = partner[i];
    if (j == -1) {
      packs.push_back({i});
      procs[i] = times.used(i, p);
    } else if (i < j) {
      packs.push_back({i, j});
      const int q = best_split(times, i, j).procs;
      procs[i] = times.used(i, q);
      procs[j] = times.used(j, p - q);
    }
  }
  return with_procs(instance, packs, procs);
}

ExactResult optimal(const Instance& instance, std::optional<double> time_limit) {
  const ScopedTimeLimit limit(time_limit);
  SearchResult start = heuristic::best_pack_by_pack(instance);
  if (!start.complete) return unproved(instance, std::move(start));
  if (instance.tasks() <= kSubsetsFirst)
    return by_subsets(instance, unproved(instance, std::move(start)));
  start = improved(instance, start);
  if (instance.tasks() > kMostBranched) return bounded(instance, std::move(start));
  const bool small = instance.tasks() <= search::kMostSubsetTasks;
  ExactResult result =
      branch_and_price(instance, start.coschedule, std::nullopt,
                       small ? kFewNodes : std::numeric_limits<std::int64_t>::max());
  if (result.proved || !result.complete || !small) return result;
  return by_subsets(instance, std::move(result));
}

}  // namespace cosched::packs::exact
