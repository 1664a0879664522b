#include "cosched/moldable/graph/search.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"

namespace cosched::moldable::graph {
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
      .after(std::make_shared<const TaskGraph>(jobs, edges));
}

TEST(GraphSearch, NeverAboveTheProofNorBelowIt) {
  Rng rng(4);
  for (int round = 0; round < 20; ++round) {
    const Instance instance = random_graph(rng, 5, 3);
    const Found proved = optimal(instance, {0, 100'000'000, std::nullopt, {}});
    ASSERT_TRUE(proved.proved);
    const Found found = local_search(instance, {1, 50'000, std::nullopt, {}});
    check::validate(instance, to_schedule(instance, found.placement));
    EXPECT_GE(makespan(found.placement), makespan(proved.placement) * (1 - 1e-9));
    EXPECT_LE(found.bound, makespan(proved.placement) * (1 + 1e-9));
    EXPECT_LE(makespan(found.placement), makespan(proved.placement) * 1.15);
  }
}

TEST(GraphSearch, KeepsAStartThatIsBetter) {
  Rng rng(5);
  const Instance instance = random_graph(rng, 7, 3);
  const Found best = optimal(instance, {0, 400'000'000, std::nullopt, {}});
  const Found found = local_search(instance, {0, 0, std::nullopt, {best.placement}});
  EXPECT_DOUBLE_EQ(makespan(found.placement), makespan(best.placement));
}

TEST(GraphSearch, OptimalTakesFewJobs) {
  Rng rng(6);
  const Instance instance = random_graph(rng, kMostExactJobs + 1, 2);
  EXPECT_THROW(optimal(instance, {}), InvalidInstance);
}

TEST(Decoder, JustifyingNeverLengthens) {
  Rng rng(7);
  for (int round = 0; round < 30; ++round) {
    const Instance instance = random_graph(rng, 15, 4);
    const Choices choices(instance);
    Decoder decoder(instance, choices);
    Decoded made{decoder.graph().order(), Chosen(15, 0), {}, 0};
    for (int i = 0; i < 15; ++i) made.chosen[i] = static_cast<int>(rng.below(choices[i].size()));
    decoder.decode(made);
    Decoded better = made;
    decoder.justify(better);
    EXPECT_LE(better.makespan, made.makespan);
    check::validate(instance, to_schedule(instance, decoder.placement(better)));
  }
}

TEST(Timeline, TheEarliestFitInAGap) {
  Timeline timeline(4, 1);
  const Choice wide{3, 2, {0.75}}, narrow{1, 5, {0.25}}, two{2, 2, {0.5}};
  timeline.take(wide, 0);
  EXPECT_DOUBLE_EQ(timeline.earliest(narrow, 0), 0);
  timeline.take(narrow, 0);
  EXPECT_DOUBLE_EQ(timeline.earliest(two, 0), 2);
  EXPECT_DOUBLE_EQ(timeline.earliest(two, 3), 3);
}

}  // namespace
}  // namespace cosched::moldable::graph
