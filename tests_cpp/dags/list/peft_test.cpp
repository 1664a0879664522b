// PEFT on graphs whose costs are computed by hand.
#include "cosched/dags/list/peft.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "cosched/dags/list/heft.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

TEST(Peft, LooksAhead) {
  // OCT by hand: 1 needs 1 on the second type, so 0 on the first type pays min(5, 1 + 2).
  const TaskGraph graph(2, {{0, 1}});
  Table times{{2, 2.5}, {5, 1}};
  const Instance instance(
      times, graph, {1, 1},
      Transfers(graph, {1, 1}, {{0, 1}}, {2},
                {.bandwidth = Table(2, 2, 1.0), .latency = Table(2, 2), .memories = {}}));
  const Table costs = list::optimistic_costs(instance);
  EXPECT_EQ(costs(0, 0), 3);
  EXPECT_EQ(costs(0, 1), 1);
  EXPECT_EQ(list::peft(instance).kind, (std::vector<int>{1, 1}));
  EXPECT_EQ(list::peft(instance).makespan(), 3.5);
  EXPECT_EQ(list::heft(instance).makespan(), 5);
}

TEST(Peft, PutsFirstWhatMoreFollows) {
  // Of two chains on one unit, the second has the longer end.
  const Instance instance = graphs::make({{1}, {1}, {2}, {6}}, {{0, 2}, {1, 3}}, {1});
  EXPECT_EQ(list::peft(instance).start[1], 0);
}

}  // namespace
}  // namespace cosched::dags
