#include "cosched/core/sharing.hpp"

#include <gtest/gtest.h>

#include "cosched/core/processor_choice.hpp"
#include "cosched/core/running_set.hpp"

namespace cosched {
namespace {

Sharing pairs(Matrix<double> table, SlowdownRule rule) {
  const int n = static_cast<int>(table.rows());
  return Sharing(n, {}, Slowdowns{.table = std::move(table), .rule = rule}, std::nullopt);
}

// Tasks 0, 1, ... on a processor each, with these run times without slow-downs (s).
std::vector<RunningTask> running_tasks(const std::vector<double>& alone) {
  std::vector<RunningTask> tasks;
  for (const double seconds : alone)
    tasks.push_back({.task = static_cast<int>(tasks.size()), .procs = 1, .alone = seconds});
  return tasks;
}

TEST(Sharing, RulesOrder) {
  const Matrix<double> table{{1, 1.5, 1.4}, {1.2, 1, 1.1}, {1.3, 0.5, 1}};
  const std::vector<RunningTask> set = running_tasks({8, 6, 2});
  EXPECT_NEAR(pairs(table, SlowdownRule::max).factors(set)[0], 1.5, 1e-15);
  EXPECT_NEAR(pairs(table, SlowdownRule::sum).factors(set)[0], 1.9, 1e-15);
  EXPECT_NEAR(pairs(table, SlowdownRule::product).factors(set)[0], 2.1, 1e-15);
  EXPECT_NEAR(pairs(table, SlowdownRule::sum).factors(set)[2], 1.3, 1e-15);  // 0.5 is read as 1
}

TEST(Sharing, TwoEndByTheClosedForm) {
  const Sharing sharing = pairs({{1, 1.5}, {1.3, 1}}, SlowdownRule::sum);
  const std::vector<double> ends = sharing.ends(running_tasks({8, 6}));
  const double first = 6 * 1.3;
  EXPECT_NEAR(ends[1], first, 1e-12);
  EXPECT_NEAR(ends[0], 8 + first * (1 - 1 / 1.5), 1e-12);
}

TEST(Sharing, TheUnslowedEndToTheBit) {
  const Sharing sharing = pairs({{1, 1, 1}, {1.7, 1, 1}, {1, 1, 1}}, SlowdownRule::sum);
  const std::vector<double> ends = sharing.ends(running_tasks({0.1, 0.3, 0.7}));
  EXPECT_EQ(ends[0], 0.1);
  EXPECT_EQ(ends[2], 0.7);
}

TEST(Sharing, BandwidthSlowsWhoWaits) {
  const Sharing sharing(3, {}, std::nullopt,
                        Bandwidth{.demand = {{4}, {4}, {4}}, .capacity = 10, .stall = {1, 0.5, 0}});
  const std::vector<RunningTask> all = running_tasks({1, 1, 1});
  const std::vector<double> factors = sharing.factors(all);
  EXPECT_NEAR(factors[0], 1.2, 1e-15);
  EXPECT_NEAR(factors[1], 1.1, 1e-15);
  EXPECT_EQ(factors[2], 1);
  EXPECT_EQ(sharing.factors({all[0], all[1]})[0], 1);  // 8 of 10
}

TEST(Sharing, ChoicesLeaveOutWhatIsBeatenOrDoesNotFit) {
  // Task 0: slower on 2, does not fit on 4.
  const Sharing same(1, {{.name = "memory", .capacity = 5, .need = {{1, 1, 1, 9}}}}, std::nullopt,
                     std::nullopt);
  const std::vector<double> times{4, 5, 2, 1};
  const auto choices = find_processor_choices(same, 0, 4, [&](int q) { return times[q - 1]; });
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].procs, 1);
  EXPECT_EQ(choices[1].procs, 3);
  // Slower, but it needs less: kept.
  const Sharing less(1, {{.name = "memory", .capacity = 5, .need = {{3, 1, 3, 3}}}}, std::nullopt,
                     std::nullopt);
  EXPECT_EQ(find_processor_choices(less, 0, 3, [&](int q) { return times[q - 1]; }).size(), 3U);
}

TEST(Sharing, RunningIsSlowFromTheStartOfAnother) {
  const Sharing sharing = pairs({{1, 2}, {2, 1}}, SlowdownRule::sum);
  RunningSet running(&sharing);
  running.start({0, 1, 4}, 0);
  running.start({1, 1, 1},
                2);  // both at half their pace: 1 ends at 4, with 0 half of its rest done
  EXPECT_EQ(running.next_end(), 4);
  EXPECT_EQ(running.finish()[0].task, 1);
  EXPECT_EQ(running.next_end(), 5);
}

// With the same need on all counts a choice is beaten by any that is no slower on fewer.
TEST(Sharing, ChoicesOfNeedsThatAreTheSameOnAllCountsFallInTime) {
  const Sharing sharing(1, {{.name = "memory", .capacity = 8, .need = {{4}}}}, std::nullopt,
                        std::nullopt);
  ASSERT_TRUE(sharing.same_on_all_counts());
  const std::vector<double> table_times{9, 9, 5, 7, 3};
  const std::vector<ProcessorChoice> choices = find_processor_choices(
      sharing, 0, 5, [&](int q) { return table_times[static_cast<std::size_t>(q) - 1]; });
  ASSERT_EQ(choices.size(), 3U);
  EXPECT_EQ(choices[0].procs, 1);
  EXPECT_EQ(choices[1].procs, 3);
  EXPECT_EQ(choices[2].procs, 5);
  EXPECT_EQ(choices[1].time, 5);
}

TEST(Sharing, SelectedTasksSlowEachOtherAsBefore) {
  const Matrix<double> table{{1, 1.25, 1.5}, {2, 1, 2.5}, {3, 3.5, 1}};
  const Sharing sharing(3, {}, Slowdowns{table, SlowdownRule::sum}, std::nullopt);
  const Sharing selected = sharing.select({2, 0});
  EXPECT_EQ(selected.tasks(), 2);
  EXPECT_EQ(selected.excess(0, 1), 3 - 1);
  EXPECT_EQ(selected.excess(1, 0), 1.5 - 1);
}

}  // namespace
}  // namespace cosched
