// The optimum by whichever exact method fits the size.
#pragma once

#include "cosched/packs/model/coschedule.hpp"
#include "cosched/packs/model/measures.hpp"  // to_schedule(), for callers
#include "cosched/packs/search/local_search.hpp"

namespace cosched::packs::exact {

struct ExactParams {
  /// Tasks up to which the programme over subsets takes milliseconds.
  int max_tasks_by_subsets = 16;
  /// Nodes of branch and price before the programme over subsets.
  std::int64_t nodes_before_subsets = 50;
  /// Tasks up to which there is branch and price; beyond, only the bound of groups is affordable.
  int max_branched_tasks = 1'200;
  /// Operations a task of the local search for the first co-schedule, and its share of a time limit.
  std::int64_t start_work = search::kLocalSearchWork / 5;
  double start_share = 0.2;
};

/// The optimum for any k.
///
/// Up to 16 tasks by the dynamic programme over subsets; beyond, branch and price from a short
/// local search (and again the subset programme where it leaves up to 20 tasks open).  When the
/// time limit (seconds) ends it first, the result is the best co-schedule so far, at worst that of
/// pack-by-pack, with the bound so far, and `proved` only if the two meet.  Under a limit the
/// rounds of local_search (seed 0) come first, each from what the rounds before it found; branch
/// and price has a tenth of the time after three of them, and most of it once a long one has found
/// nothing better.  So the result is never worse than that of local_search after the same rounds;
/// in the same time local_search has at most a part of its last round more.  Without a limit it
/// runs until it has the proof, except beyond 1,200 tasks: there it ends with column_bound().
/// Throws InvalidInstance where tasks share something: shared/optimal.hpp.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit = std::nullopt,
                    const ExactParams& params = {});

/// What optimal() does under a time limit, without a clock: the rounds of local_search (seed 0)
/// have `work` operations a task in all, and each turn of branch and price has `nodes` of its
/// nodes. Never costs more than local_search with the same work, whatever the turns of branch and
/// price return: the rounds start from what they found themselves.
ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes,
                            const ExactParams& params = {});

}  // namespace cosched::packs::exact
