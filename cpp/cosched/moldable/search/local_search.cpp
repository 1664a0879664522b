#include "cosched/moldable/search/local_search.hpp"

#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/graph_search.hpp"
#include "cosched/moldable/search/rounds.hpp"
#include "cosched/moldable/search/shared_search.hpp"
#include "cosched/moldable/search/starts.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kChains =
    8;  // of a round: several differ more than one gains by taking as long as all

double sum_of_least_ends(const Instance& instance) {
  double sum = 0;
  for (int i = 0; i < instance.jobs(); ++i)
    sum += instance.weight(i) * (instance.release(i) + instance.least_time(i));
  return sum;
}

}  // namespace

IndependentJobsSearch::IndependentJobsSearch(const Instance& instance, const SearchOptions& options)
    : instance_(instance), options_(options), incumbent_(instance, options.objective) {
  const Offer offer = [&](Placement made) { incumbent_.offer(std::move(made)); };
  bound_ = without_deadline([&] {
    offer_simple_schedules(instance, offer);
    for (const Placement& start : options.starts) offer(start);
    return bounds::window_bound(instance);
  });
  const ScopedDeadlineExtension grace(kStartSeconds);
  has_first_schedules_ = finishes_within(std::nullopt, [&] {
    offer_family_schedules(instance, options.seed, offer);
    bound_ = std::max(bound_, dual::dual_approximation_bound(instance, dual::kDefaultTolerance));
  });
  const bool shortest = options.objective == Objective::makespan;
  target_value_ = (shortest ? bound_ : sum_of_least_ends(instance)) * (1 + kExactTolerance);
}

void IndependentJobsSearch::offer_first_schedules() {
  const Offer offer = [&](Placement made) { incumbent_.offer(std::move(made)); };
  offer_canonical_lists(instance_, bound_, offer);
}

bool IndependentJobsSearch::run_round(std::int64_t work, int) {
  const int chains = work < kSearchWork ? 1 : kChains;
  const Placement from = incumbent_.placement();
  run_chains(
      chains,
      [&](int k, const Offer& own) {
        const AnnealOptions options{options_.objective, next_seed_ + k,
                                    total_work(instance_, work / chains), target_value_};
        anneal(instance_, from, options, own);
      },
      [&](Placement made) { incumbent_.offer(std::move(made)); });
  next_seed_ += chains;
  return !is_proved();
}

namespace {

// Jobs that share nothing and wait for nobody.
SearchResult search_independent_jobs(const Instance& instance, const SearchOptions& options) {
  IndependentJobsSearch search(instance, options);
  bool is_complete = search.has_first_schedules();
  if (is_complete && options.work > 0)
    is_complete = finishes_within(std::nullopt, [&] { search.offer_first_schedules(); });
  if (!is_complete) return {search.best(), false, search.is_proved(), 0};
  RoundsOptions rounds{kSearchWork, options.work, {}};
  const bool has_budget = options.work > kSearchWork;  // more than the default was asked for
  if (options.proof && instance.jobs() <= (has_budget ? kMostProvedJobs : kExactJobs))
    rounds.prove = [&](const Placement& start, const ProofOptions& share) {
      return prove(instance, start, share);
    };
  return run_rounds(search, instance, options, rounds);
}

}  // namespace

std::int64_t total_work(const Instance& instance, std::int64_t work) {
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  return work > most / instance.jobs() ? most : work * instance.jobs();
}

SearchResult local_search(const Instance& instance, const SearchOptions& options) {
  const std::int64_t operations = total_work(instance, options.work);
  const ScopedTimeLimit limit(options.time_limit);
  if (instance.graph() != nullptr) return graph_search(instance, options, operations);
  if (instance.sharing() != nullptr) return shared_search(instance, options);
  return search_independent_jobs(instance, options);
}

}  // namespace cosched::moldable::search
