#include "cosched/cluster/batch/node_plan.hpp"

#include <gtest/gtest.h>

#include "cosched/cluster/batch/backfilling.hpp"
#include "support/site_instances.hpp"

namespace cosched::cluster::batch {
namespace {

using testing::three_node_site;
using testing::two_node_site;

// At 10 s as many cores are free as before, but on both nodes.
TEST(NodePlan, StepsOfTheSameSumDiffer) {
  const Jobs jobs{.submit = {0, 0, 0},
                  .tasks = {2, 2, 2},
                  .cpu = {1, 1, 1},
                  .memory = {1, 1, 1},
                  .runtime = {10, 10, 5},
                  .estimate = {}};
  const Site site = two_node_site(
      2, {{.tasks = 2, .parts = 1}, {.tasks = 2, .parts = 2}, {.tasks = 2, .parts = 2}});
  const SiteOutcome outcome =
      backfill(Instance(jobs, 4), site, BatchRule::conservative, {}, Estimates::perfect);
  EXPECT_EQ(outcome.outcome.start, (std::vector<double>{0, 10, 10}));
}

TEST(NodePlan, AnUndistributedNeedIsPlannedOnSeveralNodes) {
  const Jobs jobs{.submit = {0, 0},
                  .tasks = {3, 2},
                  .cpu = {1, 1},
                  .memory = {1, 1},
                  .runtime = {10, 10},
                  .estimate = {}};
  const Site site = two_node_site(2, {{.tasks = 3, .parts = 0}, {.tasks = 2, .parts = 1}});
  const SiteOutcome outcome =
      backfill(Instance(jobs, 4), site, BatchRule::conservative, {}, Estimates::perfect);
  EXPECT_EQ(outcome.outcome.start, (std::vector<double>{0, 10}));
  EXPECT_EQ(outcome.placements[0].size(), 2u);
}

TEST(NodePlan, TheEarliestStartOnNodesThatStayFree) {
  const Site site = three_node_site({.tasks = 4, .parts = 1, .memory = 100});
  const Need& need = site.need(0);
  const ResourceAmounts one_core{.memory = 1, .cores = 1, .gpus = 0};
  const NodePlacement core_of_first_node{{0, one_core}};
  const NodePlacement core_of_second_node{{1, one_core}};
  NodePlan plan(site);
  plan.reserve(0, 10, core_of_first_node);
  EXPECT_EQ(plan.find_earliest_slot(0, need, 5, kInfinity).share[0].node, 1);
  plan.reserve(7, 20, core_of_second_node);
  EXPECT_EQ(plan.find_earliest_slot(0, need, 5, kInfinity).start, 0);
  // On the first node, when it is free.
  EXPECT_EQ(plan.find_earliest_slot(0, need, 8, kInfinity).start, 10);
  EXPECT_EQ(plan.find_earliest_slot(0, need, 8, kInfinity).share[0].node, 0);
  EXPECT_EQ(plan.find_earliest_slot(3, need, 8, 10).start, 10);
  EXPECT_TRUE(plan.find_earliest_slot(3, need, 8, 10).share.empty());
  plan.advance(8);
  plan.release(7, 20, core_of_second_node);
  EXPECT_EQ(plan.find_earliest_slot(8, need, 8, kInfinity).start, 8);
  const ResourceAmounts whole_node{.memory = 100, .cores = 4, .gpus = 0};
  const NodePlacement both_nodes{{0, whole_node}, {1, whole_node}};
  plan.reset(
      8, {{.expected_end = 30, .share = &both_nodes}, {.expected_end = 8, .share = &both_nodes}});
  EXPECT_EQ(plan.find_earliest_slot(8, need, 8, kInfinity).start, 30);
}

}  // namespace
}  // namespace cosched::cluster::batch
