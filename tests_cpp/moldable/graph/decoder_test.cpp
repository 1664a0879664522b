#include "cosched/moldable/graph/decoder.hpp"

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
