// The order in which a search spends its work: rounds, a proof, more rounds.
#pragma once

#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/proof.hpp"

namespace cosched::moldable::search {

struct RoundsOptions {
  std::int64_t usual_work;  // by default, in the unit of Search::round()
  std::int64_t work;
  /// Tries to prove a schedule the best, within the share of work and time that it is given.
  /// Empty: nothing is tried.
  std::function<ProofResult(const Placement&, const ProofOptions&)> prove;
};

/// Rounds of `search`, which has begun: with at most the default work, or without a proof, all of
/// them; else those of the default work, then the proof, then the rest.  So what more work, or a
/// time limit that is long enough, allows begins with what the default work does, and is never
/// worse.
SearchResult run_rounds(SearchRounds& search, const Instance& instance,
                        const SearchOptions& options, const RoundsOptions& rounds);

}  // namespace cosched::moldable::search
