// CPOP on a graph whose data keeps the critical path on one unit.
#include "cosched/dags/list/cpop.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"

namespace cosched::dags {
namespace {

TEST(Cpop, KeepsItsPathOnOneUnit) {
  // Path 0 -> 1 -> 3 in either type's favour; 2 is short.  Data makes it stay together.
  const TaskGraph graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  Table times{{4, 2}, {6, 3}, {1, 9}, {4, 2}};
  const Instance instance(times, graph, {2, 1},
                          Transfers(graph, {2, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, {1, 1, 1, 1},
                                    {Table(2, 2, 1.0), Table(2, 2), {}}));
  const Plan plan = list::cpop(instance);
  plain::expect_valid(instance, plan);
  EXPECT_EQ(plan.kind, (std::vector<int>{1, 1, 0, 1}));
  EXPECT_EQ(plan.start, (std::vector<double>{0, 2, 3, 5}));
}

}  // namespace
}  // namespace cosched::dags
