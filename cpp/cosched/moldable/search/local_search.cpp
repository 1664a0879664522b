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

double simple_bound(const Instance& instance) {
  double sum = 0;
  for (int i = 0; i < instance.jobs(); ++i)
    sum += instance.weight(i) * (instance.release(i) + instance.least_time(i));
  return sum;
}

}  // namespace

AloneSearch::AloneSearch(const Instance& instance, const SearchOptions& options)
    : instance_(instance), options_(options), best_(instance, options.objective) {
  const Offer offer = [&](Placement made) { best_.offer(std::move(made)); };
  bound_ = unhurried([&] {
    offer_simple(instance, offer);
    for (const Placement& start : options.starts) offer(start);
    return bounds::window_bound(instance);
  });
  const ScopedGrace grace(kStartSeconds);
  complete_ = finishes_within(std::nullopt, [&] {
    offer_family(instance, options.seed, offer);
    bound_ = std::max(bound_, dual::dual_approximation_bound(instance, dual::kDefaultTolerance));
  });
  const bool shortest = options.objective == Objective::makespan;
  enough_ = (shortest ? bound_ : simple_bound(instance)) * (1 + kExactTolerance);
}

void AloneSearch::begin() {
  const Offer offer = [&](Placement made) { best_.offer(std::move(made)); };
  offer_canonical(instance_, bound_, offer);
}

bool AloneSearch::round(std::int64_t work, int) {
  const int chains = work < kSearchWork ? 1 : kChains;
  const Placement from = best_.placement();
  in_chains(
      chains,
      [&](int k, const Offer& own) {
        const AnnealOptions options{options_.objective, seeds_ + k,
                                    total_work(instance_, work / chains), enough_};
        anneal(instance_, from, options, own);
      },
      [&](Placement made) { best_.offer(std::move(made)); });
  seeds_ += chains;
  return !is_proved();
}

namespace {

// Jobs that share nothing and wait for nobody.
SearchResult search_alone(const Instance& instance, const SearchOptions& options) {
  AloneSearch search(instance, options);
  bool is_complete = search.complete();
  if (is_complete && options.work > 0)
    is_complete = finishes_within(std::nullopt, [&] { search.begin(); });
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
  return search_alone(instance, options);
}

}  // namespace cosched::moldable::search
