#include "cosched/moldable/search/graph_decoder.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/graph_search.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "support/moldable_graphs.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using testing::random_graph;

TEST(GraphDecoder, JustifyingNeverLengthens) {
  Rng rng(7);
  for (int round = 0; round < 30; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_graph(rng, 15, 4);
    SHOW_ON_FAILURE(instance);
    const graph::JobChoices choices(instance);
    GraphDecoder decoder(instance, choices);
    DecodedSchedule decoded{decoder.graph().order(), graph::ChoiceNumbers(15, 0), {}, 0};
    for (int i = 0; i < 15; ++i)
      decoded.choice_numbers[i] = static_cast<int>(rng.below(choices[i].size()));
    decoder.decode(decoded);
    DecodedSchedule better = decoded;
    decoder.justify(better);
    EXPECT_LE(better.makespan, decoded.makespan);
    check::validate(instance, to_schedule(instance, decoder.placement(better)));
  }
}

}  // namespace
}  // namespace cosched::moldable::search
