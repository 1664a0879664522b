#include "cosched/moldable/graph/choices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "cosched/moldable/graph/list.hpp"
#include "support/moldable_graphs.hpp"

namespace cosched::moldable::graph {
namespace {

using testing::graph_of;

TEST(JobChoices, WithoutThoseThatAnotherBeats) {
  const Instance instance = graph_of(Table{{4, 4, 3, 3.5}}, 4, {});
  const JobChoices choices(instance);
  ASSERT_EQ(choices[0].size(), 2U);
  EXPECT_EQ(choices[0][1].procs, 3);
  EXPECT_EQ(choices[0][1].share, (std::vector<double>{0.75}));
  EXPECT_EQ(choices.fastest_within(0, 2), 0);
}

TEST(JobChoices, ALargerCountThatNeedsLessStays) {
  std::vector<Resource> resources;
  resources.push_back({.name = "memory", .capacity = 4, .need = Matrix<double>{{4, 2}}});
  const Instance instance =
      graph_of(Table{{4, 5}}, 2, {})
          .with_sharing(std::make_shared<const Sharing>(1, resources, std::nullopt, std::nullopt));
  const JobChoices choices(instance);
  ASSERT_EQ(choices[0].size(), 2U);
  const Placement placement = list_schedule(instance, choices, {1});
  EXPECT_EQ(placement.procs[0], 2);
  EXPECT_DOUBLE_EQ(placement.end[0], 5);
}

}  // namespace
}  // namespace cosched::moldable::graph
