// The order in which a search spends its work: rounds, a proof, more rounds.
#pragma once

#include "cosched/moldable/search/proof.hpp"
#include "cosched/moldable/search/search_options.hpp"
#include "cosched/moldable/search/search_rounds.hpp"

namespace cosched::moldable::search {

struct RoundsOptions {
  std::int64_t usual_work;  // the work by default, in the unit of SearchRounds::run_round()
  std::int64_t work;
  /// Tries to prove that a schedule is the best one, within a share of work and time.  Empty: no
  /// proof is tried.
  std::function<ProofResult(const Placement&, const ProofOptions&)> prove;
};

/// Runs the rounds of `search`, which has its first schedules.  With at most the default work, or
/// without a proof, these are all rounds that fit into the work; else the rounds of the default
/// work, then the proof, then the other rounds.  So a search with more work, or with a time limit
/// that is long enough, begins with what the default work does, and is never worse.
SearchResult run_rounds(SearchRounds& search, const Instance& instance,
                        const SearchOptions& options, const RoundsOptions& rounds);

}  // namespace cosched::moldable::search
