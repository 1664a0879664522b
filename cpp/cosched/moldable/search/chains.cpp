#include "cosched/moldable/search/chains.hpp"

#include "cosched/core/threads.hpp"

namespace cosched::moldable::search {

void run_chains(int chains, const std::function<void(int, const Offer&)>& chain,
                const Offer& offer) {
  std::vector<Placement> best_of_chain(chains);
  const auto offer_in_order = [&] {
    for (Placement& placement : best_of_chain)
      if (placement.jobs() > 0) offer(std::move(placement));
  };
  try {
    in_threads(chains, usual_threads(), [&](int k) {
      chain(k, [&](Placement placement) { best_of_chain[k] = std::move(placement); });
    });
  } catch (...) {
    offer_in_order();
    throw;
  }
  offer_in_order();
}

}  // namespace cosched::moldable::search
