#include "cosched/cluster/batch/site.hpp"

#include <gtest/gtest.h>

#include "cosched/cluster/batch/conservative.hpp"
#include "cosched/cluster/batch/fcfs_easy.hpp"
#include "cosched/cluster/batch/node_plan.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {
namespace {

constexpr std::uint64_t kAny = ~std::uint64_t{0};

// Two nodes of 4 cores and 100 KB in cell 0, one of 8 cores, 50 KB and 2 GPUs in cell 1.
std::vector<Node> three_nodes() {
  return {{{100, 4, 0}, 0, 0, 0}, {{100, 4, 0}, 0, 0, 4}, {{50, 8, 2}, 1, 1, 8}};
}

Site site_of(int tasks, int parts, double memory, int gpus, std::uint64_t cells = kAny,
             std::uint64_t types = kAny) {
  return Site(three_nodes(), {{tasks}, {parts}, {gpus}, {memory}, {cells}, {types}});
}

std::vector<int> nodes_of(const Site& site) {
  Placement found;
  std::vector<int> nodes;
  if (site.place(site.need(0), site.all(), site.need(0).cells, 0, &found))
    for (const Piece& piece : found) nodes.push_back(piece.node);
  return nodes;
}

TEST(Site, EqualPartsButForACore) {
  const Site site = site_of(9, 2, 101, 0);
  EXPECT_EQ(site.need(0).larger, 1);
  EXPECT_EQ(site.need(0).each.memory, 50);
  // Five cores are on the last node alone, four on the first.
  Placement found;
  ASSERT_TRUE(site.place(site.need(0), site.all(), kAny, 0, &found));
  ASSERT_EQ(found.size(), 2u);
  for (const Piece& piece : found) EXPECT_EQ(piece.held.cores, piece.node == 2 ? 5 : 4);
}

TEST(Site, AJobThatRunsHasItsCoresAndItsPartOfTheRest) {
  const Site site(
      three_nodes(),
      {{5, 2}, {0, 1}, {1, 0}, {51, 0}, {kAny, kAny}, {kAny, kAny}, {{3, 8, 9, 10, 11}, {}}});
  const Placement& held = site.held(0);
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].node, 0);
  EXPECT_EQ(held[0].held, (Amounts{26, 1, 1}));
  EXPECT_EQ(held[1].node, 2);
  EXPECT_EQ(held[1].held, (Amounts{25, 4, 0}));
  EXPECT_TRUE(site.held(1).empty());
}

TEST(Site, CellsAndTypes) {
  EXPECT_EQ(nodes_of(site_of(1, 1, 0, 0)), std::vector<int>{0});
  EXPECT_EQ(nodes_of(site_of(1, 1, 0, 0, 2)), std::vector<int>{2});
  EXPECT_EQ(nodes_of(site_of(1, 1, 0, 1)), std::vector<int>{2});
  EXPECT_EQ(site_of(1, 1, 0, 1, kAny, 1).unfit(), std::vector<int>{0});
  Placement found;
  const Site site = site_of(1, 1, 0, 0);
  ASSERT_TRUE(site.place(site.need(0), site.all(), kAny, 1, &found));
  EXPECT_EQ(found[0].node, 2);  // nodes of cell 0 come last
}

TEST(Site, WhatNothingIsKnownOfIsAnywhere) {
  EXPECT_EQ(nodes_of(site_of(16, 0, 250, 2)), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(site_of(17, 0, 0, 0).unfit(), std::vector<int>{0});
  EXPECT_EQ(site_of(2, 3, 0, 0).need(0).parts, 0);   // fewer cores than nodes
  EXPECT_EQ(site_of(2, 2, 0, 1).need(0).parts, 0);   // a GPU on two nodes
  EXPECT_EQ(site_of(16, 3, 0, 0).need(0).parts, 0);  // in equal parts on no nodes
  EXPECT_EQ(site_of(9, 1, 0, 0).unfit(), std::vector<int>{0});
}

TEST(Site, RefusesOtherLengthsAndNamesTheFirstThatDoesNotFit) {
  EXPECT_THROW(Site(three_nodes(), {{1, 1}, {1}, {0}, {0}, {kAny}, {kAny}}), InvalidInstance);
  const Instance instance({{0}, {9}, {1}, {1}, {10}, {}}, 16);
  try {
    require_site_fits(instance, site_of(9, 1, 0, 1));
    FAIL();
  } catch (const InfeasibleError& error) {
    EXPECT_STREQ(error.what(),
                 "job 0: needs 9 cores, 1 GPUs on each of 1 nodes: no empty nodes that it may use "
                 "have that; drop it with --drop too-wide");
  }
}

TEST(Tally, AgreesWithPlacementAsNodesChange) {
  for (const int parts : {0, 2}) {
    const Site site = site_of(9, parts, 120, 0);
    Free free = site.all();
    Tally tally(site, site.need(0), free);
    for (const Amounts& now : {Amounts{100, 1, 0}, Amounts{10, 4, 0}, Amounts{100, 4, 0}}) {
      const Amounts before = free[0];
      free[0] = now;
      tally.change(0, before, now);
      EXPECT_EQ(tally.holds(), site.holds(site.need(0), free)) << parts << " " << now.cores;
    }
  }
}

// Two nodes, and jobs without memory and GPUs.
Site two_nodes(int cores, const std::vector<int>& tasks, const std::vector<int>& parts) {
  const std::size_t jobs = tasks.size();
  return Site({{{0, cores, 0}, 0, 0, 0}, {{0, cores, 0}, 0, 0, cores}},
              {tasks, parts, std::vector<int>(jobs, 0), std::vector<double>(jobs, 0),
               std::vector<std::uint64_t>(jobs, kAny), std::vector<std::uint64_t>(jobs, kAny)});
}

// The second job waits for both nodes until 10 s; the third ends before, the fourth would not.
TEST(Site, ReservationsAreOfNodes) {
  const Jobs jobs{{0, 1, 2, 3}, {1, 2, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {10, 10, 5, 20}, {}};
  const SiteOutcome made =
      easy(Instance(jobs, 2), two_nodes(1, jobs.tasks, {1, 2, 1, 1}), {}, Estimates::perfect);
  EXPECT_EQ(made.outcome.start, (std::vector<double>{0, 10, 2, 20}));
  ASSERT_EQ(made.placements.size(), 4u);
  EXPECT_EQ(made.placements[1].size(), 2u);
  EXPECT_EQ(made.placements[2][0].node, 1);
}

// At 10 s as many cores are free as before, but on both nodes.
TEST(NodePlan, StepsOfTheSameSumDiffer) {
  const Jobs jobs{{0, 0, 0}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {10, 10, 5}, {}};
  const SiteOutcome made =
      conservative(Instance(jobs, 4), two_nodes(2, jobs.tasks, {1, 2, 2}), {}, Estimates::perfect);
  EXPECT_EQ(made.outcome.start, (std::vector<double>{0, 10, 10}));
}

TEST(NodePlan, WhatNothingIsKnownOfLiesOnSeveralNodes) {
  const Jobs jobs{{0, 0}, {3, 2}, {1, 1}, {1, 1}, {10, 10}, {}};
  const SiteOutcome made =
      conservative(Instance(jobs, 4), two_nodes(2, jobs.tasks, {0, 1}), {}, Estimates::perfect);
  EXPECT_EQ(made.outcome.start, (std::vector<double>{0, 10}));
  EXPECT_EQ(made.placements[0].size(), 2u);
}

TEST(NodePlan, TheEarliestStartOnNodesThatStayFree) {
  const Site site = site_of(4, 1, 100, 0);
  NodePlan plan(site);
  const Need& need = site.need(0);
  const Placement first{{0, {1, 1, 0}}}, second{{1, {1, 1, 0}}};
  plan.change(0, 10, first, -1);
  EXPECT_EQ(plan.earliest(0, need, 5, kInfinity).share[0].node, 1);
  plan.change(7, 20, second, -1);
  EXPECT_EQ(plan.earliest(0, need, 5, kInfinity).start, 0);
  EXPECT_EQ(plan.earliest(0, need, 8, kInfinity).start, 10);  // on the first, when it is free
  EXPECT_EQ(plan.earliest(0, need, 8, kInfinity).share[0].node, 0);
  EXPECT_EQ(plan.earliest(3, need, 8, 10).start, 10);
  EXPECT_TRUE(plan.earliest(3, need, 8, 10).share.empty());
  plan.advance(8);
  EXPECT_FALSE(plan.room(8, need, 10));
  EXPECT_TRUE(plan.room(8, need, 11));
  plan.change(7, 20, second, +1);
  EXPECT_EQ(plan.earliest(8, need, 8, kInfinity).start, 8);
  const Placement both{{0, {100, 4, 0}}, {1, {100, 4, 0}}};
  plan.reset(8, {{30, &both}, {8, &both}});
  EXPECT_EQ(plan.earliest(8, need, 8, kInfinity).start, 30);
}

}  // namespace
}  // namespace cosched::cluster::batch
