// Independent annealings over orders of jobs, several at a time in threads.
#pragma once

#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::search {

struct OrderChainParams {
  /// Chains of the first generation, which is hot and forgets what it starts from.  Several short
  /// chains differ more than one long chain gains.
  int hot_chains = 6;
  /// Chains of each later generation, and how many generations: warm, from the best so far.
  int warm_chains = 4, warm_generations = 4;
  /// The part of the operations that the warm generations get.
  double warm_share = 0.6;
  /// Temperatures, as parts of the makespan: hot and warm chains start there, all end with the
  /// last.
  double hot_temperature = 0.003, warm_temperature = 0.0012, last_temperature = 0.0005;
};

/// Anneals orders (shared/corun_order_search.hpp) from the schedule `start` with `operations` of CorunOrderSearch in
/// all: one hot generation of chains, then warm ones.  Returns the shortest schedule.
///
/// Each chain has a seed of its own from `rng`, so that the result does not depend on how many
/// threads there are.  When a time limit passes it returns the shortest until then; the next
/// check_interrupt() throws.  Requires what CorunOrderSearch requires.
Placement anneal_order_chains(const Instance& instance, const list::Decoder& decoder,
                              const Placement& start, double operations, Rng& rng,
                              const OrderChainParams& params = {});

}  // namespace cosched::moldable::search
