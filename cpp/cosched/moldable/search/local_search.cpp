#include "cosched/moldable/search/local_search.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/chains.hpp"
#include "cosched/moldable/search/graph_search.hpp"
#include "cosched/moldable/search/proof.hpp"
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

// Jobs that share nothing and wait for nobody.
SearchResult search_alone(const Instance& instance, const SearchOptions& options) {
  BestSoFar best(instance, options.objective);
  const Offer offer = [&](Placement made) { best.offer(std::move(made)); };
  double bound = unhurried([&] {
    offer_simple(instance, offer);
    for (const Placement& start : options.starts) offer(start);
    return bounds::window_bound(instance);
  });
  SearchResult result;
  {
    const ScopedGrace grace(kStartSeconds);
    result.complete = finishes_within(std::nullopt, [&] {
      offer_family(instance, options.seed, offer);
      bound = std::max(bound, dual::dual_approximation_bound(instance, dual::kDefaultTolerance));
    });
  }
  const bool shortest = options.objective == Objective::makespan;
  const double enough = (shortest ? bound : simple_bound(instance)) * (1 + kExactTolerance);
  const bool budget = options.work > kSearchWork;  // more than the default was asked for
  const bool provable = options.proof && instance.jobs() <= (budget ? kMostProvedJobs : kExactJobs);
  const auto annealing = [&](const Placement& from, std::int64_t operations, std::uint64_t seed,
                             const Offer& own) {
    anneal(instance, from, {options.objective, seed, total_work(instance, operations), enough},
           own);
  };
  // Beyond the default longer and longer rounds from the best so far.
  const auto all_of = [&](std::int64_t operations, std::uint64_t seed) {
    annealing(best.placement(), std::min(operations, kSearchWork), seed, offer);
    std::int64_t left = operations - kSearchWork;
    if (left <= 0 || best.value() <= enough) return;
    in_rounds(2 * kSearchWork, [&](std::int64_t part, int) {
      const Placement from = best.placement();
      in_chains(
          kChains,
          [&](int k, const Offer& own) {
            annealing(from, std::min(part, left) / kChains, seed + 1 + k, own);
          },
          offer);
      seed += kChains;
      left -= part;
      return left > 0 && best.value() > enough;
    });
  };
  if (result.complete && options.work > 0) {
    result.complete = finishes_within(std::nullopt, [&] {
      offer_packs(instance, offer);
      offer_canonical(instance, bound, offer);
      all_of(provable ? std::min(options.work, kSearchWork) : options.work, options.seed);
    });
    result.proved = best.value() <= enough;
    if (result.complete && !result.proved && provable) {
      const Proof proof = prove(instance, best.placement(), share_of(instance, options));
      best.offer(proof.placement);
      result.proved = proof.proved;
      // Without a proof the rest of a budget goes to another annealing.
      result.complete = finishes_within(std::nullopt, [&] {
        check_interrupt();
        if (!result.proved && budget) all_of(options.work - kSearchWork, options.seed + 1);
      });
    }
  }
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
