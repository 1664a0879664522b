#include "cosched/cluster/batch/site.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/cluster/batch/node_plan.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_cluster.hpp"

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
  const SiteOutcome made = backfill(Instance(jobs, 2), two_nodes(1, jobs.tasks, {1, 2, 1, 1}),
                                    Rule::easy, {}, Estimates::perfect);
  EXPECT_EQ(made.outcome.start, (std::vector<double>{0, 10, 2, 20}));
  ASSERT_EQ(made.placements.size(), 4u);
  EXPECT_EQ(made.placements[1].size(), 2u);
  EXPECT_EQ(made.placements[2][0].node, 1);
}

// At 10 s as many cores are free as before, but on both nodes.
TEST(NodePlan, StepsOfTheSameSumDiffer) {
  const Jobs jobs{{0, 0, 0}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {10, 10, 5}, {}};
  const SiteOutcome made = backfill(Instance(jobs, 4), two_nodes(2, jobs.tasks, {1, 2, 2}),
                                    Rule::conservative, {}, Estimates::perfect);
  EXPECT_EQ(made.outcome.start, (std::vector<double>{0, 10, 10}));
}

TEST(NodePlan, WhatNothingIsKnownOfLiesOnSeveralNodes) {
  const Jobs jobs{{0, 0}, {3, 2}, {1, 1}, {1, 1}, {10, 10}, {}};
  const SiteOutcome made = backfill(Instance(jobs, 4), two_nodes(2, jobs.tasks, {0, 1}),
                                    Rule::conservative, {}, Estimates::perfect);
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
  plan.change(7, 20, second, +1);
  EXPECT_EQ(plan.earliest(8, need, 8, kInfinity).start, 8);
  const Placement both{{0, {100, 4, 0}}, {1, {100, 4, 0}}};
  plan.reset(8, {{30, &both}, {8, &both}});
  EXPECT_EQ(plan.earliest(8, need, 8, kInfinity).start, 30);
}

// A plan as a list of shares, looked at second by second.
struct ListOfShares {
  struct Taken {
    double begin, end;
    Placement share;
  };
  const Site& site;
  std::vector<Taken> all;

  NodePlan::Slot earliest(double now, const Need& need, double length, double before) const {
    for (double start = now; start < before; ++start) {
      Free least_free = site.all();
      for (double time = start; time < start + length; ++time) {
        Free free = site.all();
        for (const Taken& one : all)
          if (one.begin <= time && time < one.end)
            for (const Piece& piece : one.share) free[piece.node] -= piece.held;
        for (std::size_t k = 0; k < free.size(); ++k) least_free[k] = least(least_free[k], free[k]);
      }
      Placement share;
      if (site.place(need, least_free, need.cells, 0, &share)) return {start, share};
    }
    return {before, {}};
  }
};

// Jobs of all kinds of needs come, end early, and are moved forward: each slot is the list's, and
// whoever is said to be stuck has no sooner one.
TEST(NodeBook, PlansAsAListOfSharesDoes) {
  Rng rng(7);
  int moved = 0, stuck = 0;
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    Site::Asked asked;
    std::vector<BatchJob> jobs;
    for (int job = 0; job < 14; ++job) {
      asked.tasks.push_back(1 + static_cast<int>(rng.below(6)));
      asked.parts.push_back(static_cast<int>(rng.below(4)));
      asked.gpus.push_back(rng.below(4) == 0 ? 1 : 0);
      asked.memory.push_back(static_cast<double>(20 * rng.below(4)));
      asked.cells.push_back(rng.below(4) == 0 ? 1 : kAny);
      asked.gpu_types.push_back(kAny);
      jobs.push_back({0, 0, static_cast<double>(3 + 2 * rng.below(3)), asked.tasks.back(), job});
    }
    const Site site(three_nodes(), asked);
    const auto& unfit = site.unfit();
    NodeBook book(site, jobs);
    ListOfShares list{site, {}};
    std::vector<int> ranks;  // of each in the list
    for (int rank = 0; rank < 14; ++rank) {
      if (std::count(unfit.begin(), unfit.end(), rank)) continue;
      const double length = jobs[rank].expected;
      const auto slot = book.earliest(rank, 0);
      const auto same = list.earliest(0, site.need(rank), length, 1000);
      ASSERT_EQ(slot.start, same.start);
      ASSERT_TRUE(std::equal(
          slot.share.begin(), slot.share.end(), same.share.begin(), same.share.end(),
          [](const Piece& a, const Piece& b) { return a.node == b.node && a.held == b.held; }));
      book.plan.change(slot.start, slot.start + length, slot.share, -1);
      list.all.push_back({slot.start, slot.start + length, slot.share});
      ranks.push_back(rank);
    }
    for (double now = 1; now < 12; ++now) {
      SHOW_ON_FAILURE(now);
      book.plan.advance(now);
      for (auto& one : list.all)  // somebody who runs ends
        if (one.begin < now && now < one.end && rng.below(2)) {
          book.plan.change(now, one.end, one.share, +1);
          book.given(one.share);
          one.end = now;
        }
      for (std::size_t k = 0; k < ranks.size(); ++k) {
        auto& own = list.all[k];
        if (own.begin < now) continue;
        const double start = std::exchange(own.begin, own.end), length = own.end - start;
        const auto same = list.earliest(now, site.need(ranks[k]), length, start);
        own.begin = start;
        if (book.stuck(ranks[k], now, {start, own.share})) {
          ++stuck;
          ASSERT_EQ(same.start, start);
          continue;
        }
        book.plan.change(start, own.end, own.share, +1);
        const auto slot = book.sooner(ranks[k], now, start);
        ASSERT_EQ(slot.start, same.start);
        if (slot.start < start) {
          ++moved;
          book.given(own.share);
          own = {slot.start, slot.start + length, slot.share};
        }
        book.plan.change(own.begin, own.end, own.share, -1);
      }
    }
  }
  EXPECT_GT(moved, 100);
  EXPECT_GT(stuck, 200);
}

}  // namespace
}  // namespace cosched::cluster::batch
