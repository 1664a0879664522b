#include "cosched/moldable/search/optimal.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/incumbent.hpp"
#include "cosched/moldable/search/local_search.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kStartShare = 0.1;

Placement first_schedule(const Instance& instance, const ProofOptions& options) {
  SearchOptions search;
  search.objective = options.objective;
  search.proof = false;
  search.work = std::min(kSearchWork, options.work / (std::int64_t{100} * instance.jobs()));
  if (seconds_left() < kInfinity) search.time_limit = std::max(0.0, kStartShare * seconds_left());
  return local_search(instance, search).placement;
}

// Where there was no room for a proof: a better schedule, with what is left of work and time.
void go_on(const Instance& instance, const ProofOptions& options, Proof& proof) {
  SearchOptions search;
  search.objective = options.objective;
  search.seed = 1;
  search.proof = false;
  search.work = proof.left / instance.jobs();
  search.starts = {proof.placement};
  const SearchResult found = local_search(instance, search);
  Incumbent best(instance, options.objective, std::move(proof.placement));
  best.take(found.placement);
  proof.placement = best.placement();
  proof.in_time = found.complete;
  proof.proved = best.hopeless(proof.bound);
}

}  // namespace

Proof optimal(const Instance& instance, const ProofOptions& options) {
  const ScopedTimeLimit limit(options.time_limit);
  if (!instance.is_alone()) return graph_proof(instance, options);
  require_provable(instance, options);
  Proof proof = prove(instance, first_schedule(instance, options), options);
  if (!proof.proved && proof.in_time && proof.left > 0) go_on(instance, options, proof);
  return proof;
}

}  // namespace cosched::moldable::search
