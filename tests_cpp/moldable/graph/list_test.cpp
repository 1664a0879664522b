#include "cosched/moldable/graph/list.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/moldable_graphs.hpp"

namespace cosched::moldable::graph {
namespace {

using testing::graph_of;

TEST(ListSchedule, TheLongestPathGoesFirst) {
  // A chain of 2 + 2 + 2 beside four of 1.5 on two processors.
  const Instance instance =
      graph_of(Table{{2}, {2}, {2}, {1.5}, {1.5}, {1.5}, {1.5}}, 2, {{0, 1}, {1, 2}});
  const JobChoices choices(instance);
  const Placement placement = list_schedule(instance, choices, ChoiceNumbers(7, 0));
  EXPECT_DOUBLE_EQ(makespan(placement), 6);
  // The other way round the chain comes last.
  const std::vector<double> rank{0, 0, 0, 1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(makespan(list_schedule(instance, choices, ChoiceNumbers(7, 0), rank)), 9);
}

TEST(ListSchedule, NobodyPassesACapacity) {
  std::vector<Resource> resources;
  resources.push_back({.name = "memory", .capacity = 4, .need = Matrix<double>{{3}, {3}, {1}}});
  const Instance instance =
      graph_of(Table{{2}, {2}, {5}}, 8, {})
          .with_sharing(std::make_shared<const Sharing>(3, resources, std::nullopt, std::nullopt));
  const JobChoices choices(instance);
  const Placement placement = list_schedule(instance, choices, ChoiceNumbers(3, 0), {3, 2, 1});
  EXPECT_EQ(placement.start, (std::vector<double>{0, 2, 0}));
}

}  // namespace
}  // namespace cosched::moldable::graph
