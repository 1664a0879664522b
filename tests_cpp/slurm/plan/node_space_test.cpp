#include "cosched/slurm/plan/node_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

constexpr int kNodes = 70;  // more than a word
constexpr Second kEnd = 200;

TEST(SlurmNodeSpace, EqualsATableOfSeconds) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    SHOW_ON_FAILURE(round);
    NodeBits all(kNodes);
    all.add_range(0, kNodes);
    NodeSpace map;
    map.reset(0, kEnd, all);
    std::vector<std::set<int>> reserved_nodes(kEnd + 100);
    for (int k = 0; k < 12; ++k) {
      SHOW_ON_FAILURE(k);
      const NodeBits nodes = some_nodes(rng, kNodes);
      const Second begin = 10 * rng.between(0, 18), end = begin + 10 * rng.between(0, 8);
      bool free = true;
      for (Second s = begin; s < std::min(end, kEnd); ++s)
        for (const int node : nodes.to_list()) free = free && !reserved_nodes[s].count(node);
      if (end > begin) {
        EXPECT_EQ(map.is_free(nodes, begin, end), free);
      }
      map.reserve(nodes, begin, end, 10);
      for (Second s = begin; s < std::max(end, begin + 10); ++s)
        for (const int node : nodes.to_list()) reserved_nodes[s].insert(node);
    }
    Second last = 0;
    for (int j = 0; j < map.record_count();
         ++j) {  // they follow each other and hold what nobody took
      EXPECT_EQ(map[j].begin, last);
      last = map[j].end;
      for (Second s = map[j].begin; s < map[j].end; ++s)
        for (int node = 0; node < kNodes; ++node)
          EXPECT_EQ(map[j].nodes.has(node), !reserved_nodes[s].count(node)) << s << ' ' << node;
    }
    EXPECT_EQ(last, kEnd);
  }
}

TEST(SlurmNodeSpace, OnePairOfEqualNeighboursAtMostBecomesOne) {
  const NodeBits first_node = nodes_from(0, 1, 4);
  NodeSpace map;
  map.reset(0, kEnd, nodes_from(0, 4, 4));
  map.reserve(first_node, 10, 50, 10);
  map.reserve(first_node, 100, 150, 10);
  map.reserve(first_node, 50, 100, 10);  // equal to what is before and behind it
  std::vector<Second> ends;
  for (int j = 0; j < map.record_count(); ++j) ends.push_back(map[j].end);
  EXPECT_EQ(ends, (std::vector<Second>{10, 100, 150, kEnd}));
}

TEST(SlurmNodeSpace, AReservationTouchesNeitherWhatEndsNorWhatBeginsWithIt) {
  const NodeBits first_node = nodes_from(0, 1, 4);
  NodeSpace map;
  map.reset(0, kEnd, nodes_from(0, 4, 4));
  map.reserve(first_node, 100, 150, 10);
  EXPECT_TRUE(map.is_free(first_node, 50, 100));
  EXPECT_FALSE(map.is_free(first_node, 50, 101));
  EXPECT_FALSE(map.is_free(first_node, 149, 200));
  EXPECT_TRUE(map.is_free(first_node, 150, 200));
}

// The window of a job, as the definition has it: record by record; on machines of several sizes.
TEST(SlurmNodeSpace, WindowHoldsTheNodesOfAllRecordsMet) {
  Rng rng(4);
  for (int round = 0; round < 400; ++round) {
    SHOW_ON_FAILURE(round);
    const int count = std::array{kNodes, 130, 200, 1000}[static_cast<std::size_t>(round % 4)];
    NodeSpace map;
    map.reset(0, kEnd, nodes_from(0, count, count));
    for (int k = 0; k < 8; ++k) {
      const Second begin = 10 * rng.between(0, 18);
      map.reserve(some_nodes(rng, count), begin, begin + 10 * rng.between(1, 8), 10);
    }
    const NodeBits allowed = some_nodes(rng, count);
    const Second from = rng.between(0, 210), limit = rng.between(1, 80);
    const bool beyond = rng.between(0, 1) == 1;
    NodeBits expected = allowed;
    Second later = kNever, until = kNever;
    const int last = map.record_count() - 1;
    for (int j = 0; j <= last; ++j) {
      if (map[j].end <= from) continue;
      until = std::min(until, map[j].end);
      if (later == kNever && j < last)
        for (const int node : allowed.to_list())
          if (map[j + 1].nodes.has(node) && !(expected.has(node) && map[j].nodes.has(node)))
            later = map[j].end;
      if (map[j].begin > from + limit) {
        until = std::min(until, map[j].begin - limit);
        if (beyond && later == kNever && j + 2 <= last) later = map[j + 1].end;
        break;
      }
      expected &= map[j].nodes;
    }
    const NodeSpace::Window window = map.find_window(allowed, 0, from, limit, beyond);
    EXPECT_TRUE(*window.nodes == expected);
    EXPECT_EQ(window.later_start, later);
    EXPECT_EQ(window.valid_until, until);
    // A search for a number of nodes stops early, and still knows whether there are enough and when
    // there are more.
    const int wanted = rng.between(1, count);
    const NodeSpace::Window early_window = map.find_window(allowed, wanted, from, limit, beyond);
    EXPECT_EQ(early_window.nodes->has_at_least(wanted), expected.has_at_least(wanted));
    EXPECT_EQ(early_window.later_start, later);
  }
}

// A record that begins at the very end of the job is met.
TEST(SlurmNodeSpace, WindowMeetsARecordThatBeginsAtItsEnd) {
  NodeSpace map;
  map.reset(0, kEnd, nodes_from(0, 4, 4));
  map.reserve(nodes_from(0, 2, 4), 100, 150, 10);
  const NodeBits all = nodes_from(0, 4, 4);
  EXPECT_EQ(map.find_window(all, 4, 0, 99).nodes->count(), 4);
  const NodeSpace::Window met = map.find_window(all, 4, 0, 100);
  EXPECT_EQ(met.nodes->count(), 2);
  EXPECT_EQ(met.later_start, 150);
}

// From 300 on two of three nodes are left, from 360 on one: more is to be had at 420 alone.
TEST(SlurmNodeSpace, WhereThereAreTooFewTheWalkGoesOnUntilThereAreMore) {
  const NodeBits all = nodes_from(0, 4, 4);
  NodeSpace map;
  map.reset(0, 1000, all);
  map.reserve(nodes_from(0, 2, 4), 300, 420, 10);
  map.reserve(nodes_from(2, 3, 4), 360, 420, 10);
  const NodeSpace::Window window = map.find_window(all, 3, 0, 500);
  EXPECT_LT(window.nodes->count(), 3);
  EXPECT_EQ(window.later_start, 420);
}

TEST(SlurmNodeSpace, BeyondTheJobsEndThereIsMoreToHaveLater) {
  const NodeBits all = nodes_from(0, 4, 4);
  NodeSpace map;
  map.reset(0, 1000, all);
  map.reserve(nodes_from(2, 4, 4), 300, 1000, 10);
  map.reserve(nodes_from(1, 2, 4), 400, 1000, 10);
  map.reserve(nodes_from(0, 1, 4), 600, 1000, 10);
  EXPECT_EQ(map.find_window(all, 1, 0, 100).later_start, kNever);
  EXPECT_EQ(map.find_window(all, 1, 0, 100, true).later_start,
            600);  // the end of the one behind 300
  EXPECT_EQ(map.find_window(all, 1, 0, 300, true).later_start, kNever);  // there is none behind it
}

}  // namespace
}  // namespace cosched::slurm
