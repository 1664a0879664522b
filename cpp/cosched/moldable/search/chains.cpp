#include "cosched/moldable/search/chains.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/threads.hpp"
#include "cosched/moldable/shared/orders.hpp"

namespace cosched::moldable::search {

void in_chains(int chains, const std::function<void(int, const Offer&)>& chain,
               const Offer& offer) {
  std::vector<Placement> found(chains);
  const auto hand_over = [&] {
    for (Placement& one : found)
      if (one.jobs() > 0) offer(std::move(one));
  };
  try {
    in_threads(chains, usual_threads(),
               [&](int k) { chain(k, [&](Placement made) { found[k] = std::move(made); }); });
  } catch (...) {
    hand_over();
    throw;
  }
  hand_over();
}

namespace {

// Several differ more than one gains by taking as long as all.
constexpr int kHotChains = 6, kWarmChains = 4, kWarmGenerations = 4;
constexpr double kHottest = 0.003, kWarm = 0.0012, kColdest = 0.0005;
constexpr double kWarmShare = 0.6;  // of the operations

}  // namespace

Placement anneal_orders(const Instance& instance, const list::Decoder& decoder,
                        const Placement& from, double operations, Rng& rng) {
  Placement best = from;
  const auto generation = [&](int chains, double hot, double share) {
    std::vector<std::uint64_t> seeds;
    for (int k = 0; k < chains; ++k) seeds.push_back(rng.bits());
    const auto each = static_cast<std::int64_t>(share * operations / chains);
    const Placement start = best;
    return finishes_within(std::nullopt, [&] {
      in_chains(
          chains,
          [&](int k, const Offer& offer) {
            Rng own(seeds[k]);
            shared::OrderSearch orders(instance, decoder, own);
            const bool ended =
                finishes_within(std::nullopt, [&] { orders.anneal(start, hot, kColdest, each); });
            if (Placement found = orders.best(); found.jobs() > 0) offer(std::move(found));
            if (!ended) check_interrupt();
          },
          [&](Placement found) {
            if (makespan(found) < makespan(best)) best = std::move(found);
          });
    });
  };
  if (!generation(kHotChains, kHottest, 1 - kWarmShare)) return best;
  for (int k = 0; k < kWarmGenerations; ++k)
    if (!generation(kWarmChains, kWarm, kWarmShare / kWarmGenerations)) break;
  return best;
}

}  // namespace cosched::moldable::search
