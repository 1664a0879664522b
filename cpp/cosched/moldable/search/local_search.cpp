#include "cosched/moldable/search/local_search.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/search/graph_search.hpp"
#include "cosched/moldable/search/independent_jobs_search.hpp"
#include "cosched/moldable/search/rounds.hpp"
#include "cosched/moldable/search/shared_search.hpp"

namespace cosched::moldable::search {
namespace {

SearchResult search_independent_jobs(const Instance& instance, const SearchOptions& options) {
  IndependentJobsSearch search(instance, options);
  bool is_complete = search.has_first_schedules();
  if (is_complete && options.work > 0)
    is_complete = finishes_within(std::nullopt, [&] { search.offer_first_schedules(); });
  if (!is_complete)
    return {.placement = search.best(), .is_complete = false, .is_proved = search.is_proved()};
  RoundsOptions rounds{.usual_work = kSearchWork, .work = options.work, .prove = {}};
  const bool has_more_than_default_work = options.work > kSearchWork;
  const int max_proof_jobs = has_more_than_default_work ? kMostProvedJobs : kExactJobs;
  if (options.proof && instance.jobs() <= max_proof_jobs)
    rounds.prove = [&](const Placement& start, const ProofOptions& share) {
      return prove(instance, start, share);
    };
  return run_rounds(search, instance, options, rounds);
}

}  // namespace

SearchResult local_search(const Instance& instance, const SearchOptions& options) {
  const std::int64_t operations = total_work(instance, options.work);
  const ScopedTimeLimit limit(options.time_limit);
  if (instance.graph() != nullptr) return graph_search(instance, options, operations);
  if (instance.sharing() != nullptr) return shared_search(instance, options);
  return search_independent_jobs(instance, options);
}

}  // namespace cosched::moldable::search
