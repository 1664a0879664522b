#include "cosched/opt/event_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/opt/path_length.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(EventNetwork, KeepsLongestPathsForEveryDuration) {
  Rng rng(21);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 40;
    options.density = 0.05 * (round % 12);
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const opt::EventNetwork network = opt::make_event_network(instance.graph());
    const opt::PathLength path(network);
    for (int draw = 0; draw < 5; ++draw) {
      SHOW_ON_FAILURE(draw);
      std::vector<double> duration;
      for (int task = 0; task < instance.tasks(); ++task) duration.push_back(rng.uniform());
      const std::vector<double> end = compute_earliest_ends(instance.graph(), duration);
      const double expected = *std::max_element(end.begin(), end.end());
      EXPECT_NEAR(path(duration), expected, 1e-12);
    }
    for (std::size_t task = 0; task < network.start.size(); ++task)
      EXPECT_LT(network.start[task], network.end[task]);
    for (const auto& [from, to] : network.links) EXPECT_LT(from, to);
  }
}

TEST(EventNetwork, ContractsForkJoinToAnEventAPhase) {
  const opt::EventNetwork network =
      opt::make_event_network(graphs::fork_join(3, 100, {1, 1}, 1).graph());
  EXPECT_EQ(network.nodes, 8);  // begin, then end of fork and end of phase, three times, end
  EXPECT_TRUE(network.links.empty());
}

}  // namespace
}  // namespace cosched::dags
