#include "cosched/core/task_graph.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched {
namespace {

std::vector<int> list(TaskGraph::TaskRange range) { return {range.begin(), range.end()}; }

TEST(TaskGraph, NeighboursAreSortedAndDuplicatesKeptOnce) {
  const TaskGraph graph(4, {{2, 3}, {0, 2}, {1, 2}, {0, 2}, {0, 1}});
  EXPECT_EQ(graph.tasks(), 4);
  EXPECT_EQ(graph.edges(), 4);
  EXPECT_EQ(list(graph.successors(0)), (std::vector<int>{1, 2}));
  EXPECT_EQ(list(graph.predecessors(2)), (std::vector<int>{0, 1}));
  EXPECT_EQ(graph.order(), (std::vector<int>{0, 1, 2, 3}));
}

TEST(TaskGraph, OrderTakesTheLowestReadyTask) {
  const TaskGraph graph(4, {{3, 0}, {2, 1}});
  EXPECT_EQ(graph.order(), (std::vector<int>{2, 1, 3, 0}));
}

TEST(TaskGraph, OrderRespectsRandomEdges) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    SHOW_ON_FAILURE(round);
    const int n = 30;
    std::vector<int> rank(n);
    for (int i = 0; i < n; ++i) rank[i] = i;
    rng.shuffle(rank);
    std::vector<Edge> edges;
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j)
        if (rng.uniform() < 0.1) edges.emplace_back(rank[i], rank[j]);
    const TaskGraph graph(n, edges);
    std::vector<int> position(n);
    for (int k = 0; k < n; ++k) position[graph.order()[k]] = k;
    for (const auto& [from, to] : edges) EXPECT_LT(position[from], position[to]);
  }
}

TEST(TaskGraph, NamesACycle) {
  try {
    const TaskGraph graph(5, {{0, 1}, {1, 3}, {3, 4}, {4, 1}, {3, 2}});
    FAIL() << "a cycle passed";
  } catch (const InvalidInstance& error) {
    EXPECT_NE(std::string(error.what()).find("1 -> 3 -> 4 -> 1"), std::string::npos)
        << error.what();
  }
}

TEST(TaskGraph, RefusesBadEdges) {
  EXPECT_THROW(TaskGraph(3, {{0, 3}}), InvalidInstance);
  EXPECT_THROW(TaskGraph(3, {{-1, 0}}), InvalidInstance);
  EXPECT_THROW(TaskGraph(3, {{1, 1}}), InvalidInstance);
  EXPECT_EQ(TaskGraph(0, {}).tasks(), 0);
}

}  // namespace
}  // namespace cosched
