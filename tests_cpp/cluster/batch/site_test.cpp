#include "cosched/cluster/batch/site.hpp"

#include <gtest/gtest.h>

#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/core/errors.hpp"
#include "support/site_instances.hpp"

namespace cosched::cluster::batch {
namespace {

using testing::site_requests;
using testing::SiteJob;
using testing::three_node_site;
using testing::three_nodes;
using testing::two_node_site;

std::vector<int> nodes_of_first_job(const Site& site) {
  const Need& need = site.need(0);
  NodePlacement placement;
  if (!site.find_placement(need, site.capacities(), need.cells, 0, &placement)) return {};
  std::vector<int> nodes;
  for (const Piece& piece : placement) nodes.push_back(piece.node);
  return nodes;
}

TEST(Site, EqualPartsButForACore) {
  const Site site = three_node_site({.tasks = 9, .parts = 2, .memory = 101});
  const Need& need = site.need(0);
  EXPECT_EQ(need.larger_part_count, 1);
  EXPECT_EQ(need.part_amounts.memory, 50);
  // Five cores are on the last node alone, four on the first.
  NodePlacement placement;
  ASSERT_TRUE(site.find_placement(need, site.capacities(), kFullBitSet, 0, &placement));
  ASSERT_EQ(placement.size(), 2u);
  for (const Piece& piece : placement) EXPECT_EQ(piece.amounts.cores, piece.node == 2 ? 5 : 4);
}

TEST(Site, ARunningJobHasItsCoresAndItsShareOfMemoryAndGpus) {
  const SiteJob running{
      .tasks = 5, .parts = 0, .memory = 51, .gpus = 1, .initial_cores = {3, 8, 9, 10, 11}};
  const Site site(three_nodes(), site_requests({running, {.tasks = 2}}));
  const NodePlacement& placement = site.initial_placement(0);
  ASSERT_EQ(placement.size(), 2u);
  EXPECT_EQ(placement[0].node, 0);
  EXPECT_EQ(placement[0].amounts, (ResourceAmounts{.memory = 26, .cores = 1, .gpus = 1}));
  EXPECT_EQ(placement[1].node, 2);
  EXPECT_EQ(placement[1].amounts, (ResourceAmounts{.memory = 25, .cores = 4, .gpus = 0}));
  EXPECT_TRUE(site.has_initial_placement(0));
  EXPECT_FALSE(site.has_initial_placement(1));
}

TEST(Site, EqualNeedsAreKeptOnce) {
  const SiteJob small{.tasks = 2, .parts = 1, .memory = 10};
  // Its equal parts of 6 cores fit on one node alone: its distribution is taken as not known.
  const SiteJob unequal{.tasks = 12, .parts = 2};
  const Site site(three_nodes(), site_requests({small, unequal, {.tasks = 3}, small, unequal}));
  EXPECT_EQ(site.job_count(), 5);
  EXPECT_EQ(site.shape_count(), 3);
  EXPECT_EQ(&site.need(0), &site.need(3));
  EXPECT_EQ(&site.need(1), &site.need(4));
  EXPECT_EQ(site.need(1).part_count, 0);
  EXPECT_EQ(site.need(2).part_amounts.cores, 3);
  EXPECT_EQ(site.need(2).shape, 2);
}

TEST(Site, CellsAndTypesOfGpusRestrictAJob) {
  EXPECT_EQ(nodes_of_first_job(three_node_site({})), std::vector<int>{0});
  EXPECT_EQ(nodes_of_first_job(three_node_site({.cells = 2})), std::vector<int>{2});
  EXPECT_EQ(nodes_of_first_job(three_node_site({.gpus = 1})), std::vector<int>{2});
  EXPECT_EQ(three_node_site({.gpus = 1, .gpu_types = 1}).oversized_jobs(), std::vector<int>{0});
  const Site site = three_node_site({});
  NodePlacement placement;
  const BitSet64 avoided_cells = 1;
  ASSERT_TRUE(
      site.find_placement(site.need(0), site.capacities(), kFullBitSet, avoided_cells, &placement));
  EXPECT_EQ(placement[0].node, 2);  // nodes of cell 0 come last
}

TEST(Site, AnUndistributedNeedIsPlacedAnywhere) {
  EXPECT_EQ(
      nodes_of_first_job(three_node_site({.tasks = 16, .parts = 0, .memory = 250, .gpus = 2})),
      (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(three_node_site({.tasks = 17, .parts = 0}).oversized_jobs(), std::vector<int>{0});
  const SiteJob fewer_cores_than_nodes{.tasks = 2, .parts = 3};
  const SiteJob one_gpu_on_two_nodes{.tasks = 2, .parts = 2, .gpus = 1};
  const SiteJob equal_parts_that_do_not_fit{.tasks = 16, .parts = 3};
  for (const SiteJob& job :
       {fewer_cores_than_nodes, one_gpu_on_two_nodes, equal_parts_that_do_not_fit})
    EXPECT_EQ(three_node_site(job).need(0).part_count, 0) << job.tasks << " " << job.parts;
  EXPECT_EQ(three_node_site({.tasks = 9, .parts = 1}).oversized_jobs(), std::vector<int>{0});
}

TEST(Site, RefusesOtherLengthsAndNamesTheFirstJobThatDoesNotFit) {
  SiteRequests requests = site_requests({{}, {}});
  requests.parts.pop_back();
  EXPECT_THROW(Site(three_nodes(), requests), InvalidInstance);
  const Instance instance(
      Jobs{.submit = {0}, .tasks = {9}, .cpu = {1}, .memory = {1}, .runtime = {10}, .estimate = {}},
      16);
  try {
    require_site_fits(instance, three_node_site({.tasks = 9, .parts = 1, .gpus = 1}));
    FAIL();
  } catch (const InfeasibleError& error) {
    EXPECT_STREQ(error.what(),
                 "job 0: needs 9 cores, 1 GPUs on each of 1 nodes: no empty nodes that it may use "
                 "have that; drop it with --drop too-wide");
  }
}

// The second job waits for both nodes until 10 s; the third ends before, the fourth would not.
TEST(Site, ReservationsAreOfNodes) {
  const Jobs jobs{.submit = {0, 1, 2, 3},
                  .tasks = {1, 2, 1, 1},
                  .cpu = {1, 1, 1, 1},
                  .memory = {1, 1, 1, 1},
                  .runtime = {10, 10, 5, 20},
                  .estimate = {}};
  const Site site = two_node_site(1, {{.tasks = 1, .parts = 1},
                                      {.tasks = 2, .parts = 2},
                                      {.tasks = 1, .parts = 1},
                                      {.tasks = 1, .parts = 1}});
  const SiteOutcome outcome =
      backfill(Instance(jobs, 2), site, BatchRule::easy, {}, Estimates::perfect);
  EXPECT_EQ(outcome.outcome.start, (std::vector<double>{0, 10, 2, 20}));
  ASSERT_EQ(outcome.placements.size(), 4u);
  EXPECT_EQ(outcome.placements[1].size(), 2u);
  EXPECT_EQ(outcome.placements[2][0].node, 1);
}

}  // namespace
}  // namespace cosched::cluster::batch
