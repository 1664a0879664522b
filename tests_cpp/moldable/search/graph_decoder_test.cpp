#include "cosched/moldable/search/graph_decoder.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"

namespace cosched::moldable::search {
namespace {

Instance falling_graph(Rng& rng, int jobs, int machines) {
  Table times(jobs, machines);
  std::vector<Edge> edges;
  for (int i = 0; i < jobs; ++i) {
    for (int q = 0; q < machines; ++q)
      times(i, q) = q == 0 ? 1 + 9 * rng.uniform() : times(i, q - 1) * (0.5 + 0.5 * rng.uniform());
    for (int k = i + 1; k < jobs; ++k)
      if (rng.uniform() < 0.3) edges.emplace_back(i, k);
  }
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .after(std::make_shared<const TaskGraph>(jobs, edges));
}

TEST(GraphDecoder, JustifyingNeverLengthens) {
  Rng rng(7);
  for (int round = 0; round < 30; ++round) {
    const Instance instance = falling_graph(rng, 15, 4);
    const graph::Choices choices(instance);
    GraphDecoder decoder(instance, choices);
    Decoded made{decoder.graph().order(), graph::Chosen(15, 0), {}, 0};
    for (int i = 0; i < 15; ++i) made.chosen[i] = static_cast<int>(rng.below(choices[i].size()));
    decoder.decode(made);
    Decoded better = made;
    decoder.justify(better);
    EXPECT_LE(better.makespan, made.makespan);
    check::validate(instance, to_schedule(instance, decoder.placement(better)));
  }
}

TEST(FreeProfile, TheEarliestFitOfWhatNeedsAResource) {
  FreeProfile profile(4, 2);
  const double much[] = {0.75, 0.0}, little[] = {0.25, 0.5}, half[] = {0.5, 0.0};
  profile.take(0, 2, {1, much});
  EXPECT_EQ(profile.earliest({1, little}, 5, 0), 0);
  profile.take(0, 5, {1, little});
  EXPECT_EQ(profile.earliest({1, half}, 2, 0), 2);
  EXPECT_EQ(profile.earliest({1, half}, 2, 3), 3);
  EXPECT_EQ(profile.earliest({3, half}, 2, 0), 2);
  EXPECT_EQ(profile.earliest({4, half}, 2, 0), 5);
  profile.give(0, 5, {1, little});
  EXPECT_EQ(profile.earliest({4, half}, 2, 0), 2);
}

}  // namespace
}  // namespace cosched::moldable::search
