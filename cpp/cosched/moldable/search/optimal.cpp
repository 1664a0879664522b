#include "cosched/moldable/search/optimal.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/local_search.hpp"

namespace cosched::moldable::search {
namespace {

Placement find_first_schedule(const Instance& instance, const ProofOptions& options) {
  SearchOptions search;
  search.objective = options.objective;
  search.proof = false;
  const std::int64_t work = std::min(options.work, options.usual_work);
  search.work = std::min(kSearchWork, work / (std::int64_t{100} * instance.jobs()));
  return local_search(instance, search).placement;
}

// Where a proof ran out of memory: looks for a better schedule with the remaining work and time.
void improve_with_remaining_work(const Instance& instance, const ProofOptions& options,
                                 ProofResult& proof) {
  SearchOptions search;
  search.objective = options.objective;
  search.seed = 1;
  search.proof = false;
  search.work = proof.remaining_work / instance.jobs();
  search.starts = {proof.placement};
  const SearchResult result = local_search(instance, search);
  Incumbent incumbent(instance, options.objective);
  incumbent.offer(std::move(proof.placement));
  incumbent.offer(result.placement);
  proof.placement = incumbent.placement();
  proof.is_in_time = result.is_complete;
  proof.is_proved = incumbent.can_prune(proof.bound);
}

}  // namespace

ProofResult optimal(const Instance& instance, const ProofOptions& options) {
  const ScopedTimeLimit limit(options.time_limit);
  if (!instance.has_independent_jobs()) return graph_proof(instance, options);
  require_provable(instance, options);
  ProofResult proof = prove(instance, find_first_schedule(instance, options), options);
  if (!proof.is_proved && proof.is_in_time && proof.remaining_work > 0)
    improve_with_remaining_work(instance, options, proof);
  return proof;
}

}  // namespace cosched::moldable::search
