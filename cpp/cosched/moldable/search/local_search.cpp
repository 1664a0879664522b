#include "cosched/moldable/search/local_search.hpp"

#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/graph_search.hpp"
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

// What the proof may spend: of few jobs everything, of more half of it.
ProofOptions share_of(const Instance& instance, const SearchOptions& options) {
  ProofOptions share{options.objective, total_work(instance, options.work)};
  if (instance.jobs() <= kExactJobs) {
    if (options.work >= kSearchWork) share.work = std::max(share.work, kProofWork / 4);
    return share;
  }
  share.work /= 2;
  if (seconds_left() < kInfinity) share.time_limit = std::max(0.0, seconds_left() / 2);
  return share;
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
  return !proved();
}

namespace {

// Jobs that share nothing and wait for nobody.
SearchResult search_alone(const Instance& instance, const SearchOptions& options) {
  AloneSearch search(instance, options);
  GrowingRounds rounds(kSearchWork);
  SearchResult result;
  BestSoFar best(instance, options.objective);
  const auto search_until = [&](std::int64_t work) {
    result.complete = result.complete && finishes_within(std::nullopt, [&] {
                        rounds.run(work, [&](std::int64_t part, int number) {
                          return search.round(part, number);
                        });
                      });
    result.proved = result.proved || search.proved();
  };
  const bool budget = options.work > kSearchWork;  // more than the default was asked for
  const bool provable = options.proof && instance.jobs() <= (budget ? kMostProvedJobs : kExactJobs);
  result.complete = search.complete();
  if (result.complete && options.work > 0)
    result.complete = finishes_within(std::nullopt, [&] { search.begin(); });
  search_until(provable ? std::min(options.work, kSearchWork) : options.work);
  if (result.complete && !result.proved && provable && options.work > 0) {
    const Proof proof = prove(instance, search.best(), share_of(instance, options));
    best.offer(proof.placement);
    result.proved = proof.proved;
    // Without a proof the rest of a budget goes to more rounds.
    if (!result.proved) search_until(options.work);
  }
  best.offer(search.best());
  result.placement = best.placement();
  return result;
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
