#include "cosched/moldable/search/order_chains.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/search/chains.hpp"
#include "cosched/moldable/shared/corun_order_search.hpp"

namespace cosched::moldable::search {

Placement anneal_order_chains(const Instance& instance, const list::Decoder& decoder,
                              const Placement& start, double operations, Rng& rng,
                              const OrderChainParams& params) {
  Placement best = start;
  const auto run_generation = [&](int chains, double first_temperature, double share) {
    std::vector<std::uint64_t> seeds;
    for (int k = 0; k < chains; ++k) seeds.push_back(rng.bits());
    const auto chain_operations = static_cast<std::int64_t>(share * operations / chains);
    const Placement generation_start = best;
    const auto run_chain = [&](int k, const Offer& offer) {
      Rng chain_rng(seeds[k]);
      shared::CorunOrderSearch search(instance, decoder, chain_rng);
      const bool is_complete = finishes_within(std::nullopt, [&] {
        search.anneal(generation_start, first_temperature, params.last_temperature,
                      chain_operations);
      });
      Placement chain_best = search.best();
      if (chain_best.jobs() > 0) offer(std::move(chain_best));
      if (!is_complete) check_interrupt();
    };
    const auto keep_shorter = [&](Placement placement) {
      if (makespan(placement) < makespan(best)) best = std::move(placement);
    };
    return finishes_within(std::nullopt, [&] { run_chains(chains, run_chain, keep_shorter); });
  };
  if (!run_generation(params.hot_chains, params.hot_temperature, 1 - params.warm_share))
    return best;
  const double generation_share = params.warm_share / params.warm_generations;
  for (int k = 0; k < params.warm_generations; ++k)
    if (!run_generation(params.warm_chains, params.warm_temperature, generation_share)) break;
  return best;
}

}  // namespace cosched::moldable::search
