#include "cosched/moldable/search/optimal.hpp"

#include <algorithm>
#include <cstdint>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
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

}  // namespace

Proof optimal(const Instance& instance, const ProofOptions& options) {
  require_provable(instance, options);
  const ScopedTimeLimit limit(options.time_limit);
  return prove(instance, first_schedule(instance, options), options);
}

}  // namespace cosched::moldable::search
