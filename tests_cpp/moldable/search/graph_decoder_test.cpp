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
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

Instance random_graph(Rng& rng, int jobs, int machines) {
  Table times(jobs, machines);
  std::vector<Edge> edges;
  for (int i = 0; i < jobs; ++i) {
    for (int q = 0; q < machines; ++q)
      times(i, q) = q == 0 ? 1 + 9 * rng.uniform() : times(i, q - 1) * (0.5 + 0.5 * rng.uniform());
    for (int k = i + 1; k < jobs; ++k)
      if (rng.uniform() < 0.3) edges.emplace_back(i, k);
  }
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .with_precedence(std::make_shared<const TaskGraph>(jobs, edges));
}

TEST(GraphDecoder, JustifyingNeverLengthens) {
  Rng rng(7);
  for (int round = 0; round < 30; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_graph(rng, 15, 4);
    SHOW_ON_FAILURE(instance);
    const graph::JobChoices choices(instance);
    GraphDecoder decoder(instance, choices);
    DecodedSchedule made{decoder.graph().order(), graph::ChoiceNumbers(15, 0), {}, 0};
    for (int i = 0; i < 15; ++i)
      made.choice_numbers[i] = static_cast<int>(rng.below(choices[i].size()));
    decoder.decode(made);
    DecodedSchedule better = made;
    decoder.justify(better);
    EXPECT_LE(better.makespan, made.makespan);
    check::validate(instance, to_schedule(instance, decoder.placement(better)));
  }
}

}  // namespace
}  // namespace cosched::moldable::search
