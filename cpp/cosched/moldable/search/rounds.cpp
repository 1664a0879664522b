#include "cosched/moldable/search/rounds.hpp"

namespace cosched::moldable::search {
namespace {

// What the proof may spend: of few jobs everything, of more half of it.
ProofOptions share_of(const Instance& instance, const SearchOptions& options) {
  ProofOptions share{options.objective, total_work(instance, options.work)};
  share.usual_work = kProofWork / 4;
  if (instance.jobs() <= kExactJobs) {
    if (options.work >= kSearchWork) share.work = std::max(share.work, share.usual_work);
    return share;
  }
  share.work /= 2;
  if (seconds_left() < kInfinity) share.time_limit = std::max(0.0, seconds_left() / 2);
  return share;
}

}  // namespace

SearchResult run_rounds(Search& search, const Instance& instance, const SearchOptions& options,
                        const RoundsOptions& rounds) {
  SearchResult result;
  GrowingRounds growing(rounds.usual_work);
  const auto search_until = [&](std::int64_t work) {
    result.complete = finishes_within(std::nullopt, [&] {
      growing.run(work, [&](std::int64_t part, int number) { return search.round(part, number); });
    });
    result.proved = result.proved || search.is_proved();
  };
  search_until(rounds.prove ? std::min(rounds.work, rounds.usual_work) : rounds.work);
  BestSoFar best(instance, options.objective);
  if (result.complete && !result.proved && rounds.prove && rounds.work > 0) {
    const Proof proof = rounds.prove(search.best(), share_of(instance, options));
    best.offer(proof.placement);
    result.proved = proof.proved;
    // Without a proof the rest of a budget goes to more rounds.
    if (!result.proved) search_until(rounds.work);
  }
  best.offer(search.best());
  result.placement = best.placement();
  return result;
}

}  // namespace cosched::moldable::search
