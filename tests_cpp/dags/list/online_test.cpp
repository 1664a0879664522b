// The on-line rules: their definitions, and the worst case of the paper.
#include "cosched/dags/list/online.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "cosched/core/errors.hpp"
#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(Online, ErLsReachesTheoremFour) {
  for (const auto& [m, k] : {std::pair(16, 1), {16, 4}, {64, 4}, {25, 25}}) {
    const Instance instance = graphs::theorem4(m, k);
    EXPECT_NEAR(list::er_ls(instance).makespan(), m * std::sqrt(m), 1e-9 * m * std::sqrt(m));
  }
}

TEST(Online, RulesAsInThePaper) {
  // m = 4, k = 1: R1 compares 10/4 with p_gpu, R2 10/2, R3 10.
  const auto types = [](double gpu) {
    const Instance instance = graphs::make({{10, gpu}}, {}, {4, 1});
    return std::vector<int>{list::r1_ls(instance).kind[0], list::r2_ls(instance).kind[0],
                            list::r3_ls(instance).kind[0], list::greedy(instance).kind[0],
                            list::eft(instance).kind[0]};
  };
  EXPECT_EQ(types(2), (std::vector<int>{1, 1, 1, 1, 1}));
  EXPECT_EQ(types(2.5), (std::vector<int>{0, 1, 1, 1, 1}));
  EXPECT_EQ(types(5), (std::vector<int>{0, 0, 1, 1, 1}));
  EXPECT_EQ(types(10), (std::vector<int>{0, 0, 0, 0, 1}));  // EFT: ties to the GPU
  EXPECT_EQ(types(11), (std::vector<int>{0, 0, 0, 0, 0}));
}

TEST(Online, ErLsStepOneComparesAbsoluteTimes) {
  // The GPU is busy until 6.7 after task 0; task 1: 10.5 >= 6.7 + 3.6, so GPU although R2
  // says CPU (10.5 / 3 <= 3.6); task 2 has no such gain.
  const Instance instance = graphs::make({{20, 6.7}, {10.5, 3.6}, {8.9, 3}}, {}, {9, 1});
  EXPECT_EQ(list::er_ls(instance).kind, (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(list::r2_ls(instance).kind, (std::vector<int>{0, 0, 0}));
}

TEST(Online, EveryRuleIsValidForEveryOrder) {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 20;
    options.types = 1 + round % 3;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    std::vector<int> order;  // a random topological order
    std::vector<char> done(instance.tasks(), 0);
    while (static_cast<int>(order.size()) < instance.tasks()) {
      const int task = static_cast<int>(rng.below(instance.tasks()));
      if (!plain::is_ready(instance, done, task)) continue;
      done[task] = 1;
      order.push_back(task);
    }
    for (const Plan& plan :
         {list::r1_ls(instance, order), list::r2_ls(instance, order), list::r3_ls(instance, order),
          list::eft(instance, order), list::greedy(instance, order),
          list::random_types(instance, round, order)})
      plain::expect_valid(instance, plan);
    if (instance.types() == 2) plain::expect_valid(instance, list::er_ls(instance, order));
    EXPECT_EQ(list::greedy(instance).start, list::r3_ls(instance).start);
    EXPECT_EQ(list::random_types(instance, 7).start, list::random_types(instance, 7).start);
  }
}

TEST(Online, RefusesBadOrdersAndTypes) {
  const Instance two = graphs::make({{1, 1}, {1, 1}}, {{0, 1}}, {1, 1});
  EXPECT_THROW(list::er_ls(two, {1, 0}), InvalidInstance);
  EXPECT_THROW(list::er_ls(two, {0, 0}), InvalidInstance);
  EXPECT_THROW(list::er_ls(two, {0}), InvalidInstance);
  EXPECT_THROW(list::er_ls(two, {0, 2}), InvalidInstance);
  EXPECT_THROW(list::er_ls(graphs::make({{1, 1, 1}}, {}, {1, 1, 1})), InvalidInstance);
}

}  // namespace
}  // namespace cosched::dags
