#include "cosched/opt/event_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/core/task_graph.hpp"
#include "cosched/opt/path_length.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

std::vector<Edge> random_edges(Rng& rng, int tasks, double density) {
  std::vector<Edge> edges;
  for (int task = 0; task < tasks; ++task)
    for (int predecessor = 0; predecessor < task; ++predecessor)
      if (rng.uniform() < density) edges.emplace_back(predecessor, task);
  return edges;
}

// The makespan on enough units: each task starts when its predecessors have ended.
double longest_path(const TaskGraph& graph, const std::vector<double>& duration) {
  std::vector<double> end(duration.size());
  for (const int task : graph.order()) {
    double start = 0;
    for (const int predecessor : graph.predecessors(task))
      start = std::max(start, end[predecessor]);
    end[task] = start + duration[task];
  }
  return *std::max_element(end.begin(), end.end());
}

TEST(EventNetwork, KeepsLongestPathsForEveryDuration) {
  Rng rng(21);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const int tasks = 1 + round % 40;
    const TaskGraph graph(tasks, random_edges(rng, tasks, 0.05 * (round % 12)));
    const EventNetwork network = make_event_network(graph);
    const PathLength path(network);
    for (int draw = 0; draw < 5; ++draw) {
      std::vector<double> duration;
      for (int task = 0; task < tasks; ++task) duration.push_back(rng.uniform());
      SHOW_ON_FAILURE(duration);
      EXPECT_NEAR(path(duration), longest_path(graph, duration), 1e-12);
    }
    for (std::size_t task = 0; task < network.start.size(); ++task)
      EXPECT_LT(network.start[task], network.end[task]);
    for (const auto& [from, to] : network.links) EXPECT_LT(from, to);
  }
}

TEST(EventNetwork, ContractsForkJoinToAnEventAPhase) {
  // A fork, 100 tasks side by side and their join, three times: the join is the next fork.
  std::vector<Edge> edges;
  int fork = 0;
  for (int phase = 0; phase < 3; ++phase) {
    const int join = fork + 101;
    for (int task = fork + 1; task < join; ++task) {
      edges.emplace_back(fork, task);
      edges.emplace_back(task, join);
    }
    fork = join;
  }
  const EventNetwork network = make_event_network(TaskGraph(fork + 1, edges));
  EXPECT_EQ(network.nodes, 8);  // begin, then end of fork and end of phase, three times, end
  EXPECT_TRUE(network.links.empty());
}

}  // namespace
}  // namespace cosched::opt
