#include "cosched/moldable/search/chains.hpp"

#include <utility>
#include <vector>

#include "cosched/core/threads.hpp"

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

}  // namespace cosched::moldable::search
