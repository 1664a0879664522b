#include "cosched/moldable/search/rounds.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {
namespace {

// The work and time of the proof: for few jobs all of it, for more jobs half of it.
ProofOptions proof_share(const Instance& instance, const SearchOptions& options) {
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

SearchResult run_rounds(SearchRounds& search, const Instance& instance,
                        const SearchOptions& options, const RoundsOptions& rounds) {
  SearchResult result;
  GrowingRounds growing(rounds.usual_work);
  const auto search_until = [&](std::int64_t work) {
    result.is_complete = finishes_within(std::nullopt, [&] {
      growing.run(work,
                  [&](std::int64_t part, int number) { return search.run_round(part, number); });
    });
    result.is_proved = result.is_proved || search.is_proved();
  };
  search_until(rounds.prove ? std::min(rounds.work, rounds.usual_work) : rounds.work);
  Incumbent best(instance, options.objective);
  if (result.is_complete && !result.is_proved && rounds.prove && rounds.work > 0) {
    const ProofResult proof = rounds.prove(search.best(), proof_share(instance, options));
    best.offer(proof.placement);
    result.is_proved = proof.is_proved;
    // Where nothing is proved, the remaining work goes to more rounds.
    if (!result.is_proved) search_until(rounds.work);
  }
  best.offer(search.best());
  result.placement = best.placement();
  return result;
}

}  // namespace cosched::moldable::search
