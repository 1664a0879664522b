#include "cosched/moldable/shared/chains.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/threads.hpp"
#include "cosched/moldable/shared/orders.hpp"

namespace cosched::moldable::shared {
namespace {

// Several differ more than one gains by taking as long as all.
constexpr int kHotChains = 6, kWarmChains = 4, kWarmGenerations = 4;
constexpr double kHot = 0.003, kWarm = 0.0012, kCold = 0.0005;
constexpr double kWarmShare = 0.6;  // of the operations

}  // namespace

Placement anneal_orders(const Instance& instance, const Decoder& decoder, const Placement& from,
                        double operations, Rng& rng) {
  Placement best = from;
  const auto generation = [&](int chains, double hot, double share) {
    std::vector<std::uint64_t> seeds;
    for (int k = 0; k < chains; ++k) seeds.push_back(rng.bits());
    std::vector<Placement> found(chains);
    const auto each = static_cast<std::int64_t>(share * operations / chains);
    const Placement start = best;
    const bool in_time = finishes_within(std::nullopt, [&] {
      in_threads(chains, usual_threads(), [&](int k) {
        Rng own(seeds[k]);
        OrderSearch orders(instance, decoder, own);
        const bool ended =
            finishes_within(std::nullopt, [&] { orders.anneal(start, hot, kCold, each); });
        found[k] = orders.best();
        if (!ended) check_interrupt();
      });
    });
    for (const Placement& one : found)
      if (one.jobs() > 0 && makespan(one) < makespan(best)) best = one;
    return in_time;
  };
  if (!generation(kHotChains, kHot, 1 - kWarmShare)) return best;
  for (int k = 0; k < kWarmGenerations; ++k)
    if (!generation(kWarmChains, kWarm, kWarmShare / kWarmGenerations)) break;
  return best;
}

}  // namespace cosched::moldable::shared
