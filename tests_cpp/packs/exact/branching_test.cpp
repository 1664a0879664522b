#include "cosched/packs/exact/branching.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/packs/exact/pack_filling.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::packs::exact {
namespace {

columns::Restrictions no_restrictions(int tasks) {
  columns::Restrictions restrictions;
  restrictions.least_length.assign(tasks, 0);
  restrictions.below_length.assign(tasks, kInfinity);
  return restrictions;
}

// Two and a half packs of length 5, half a one of length 3.
TEST(Questions, AskForTheNumberOfLongPacksWhereItIsNotWhole) {
  const std::vector<columns::FractionalPack> packs{
      {{5, {0, 1}}, 1}, {{5, {2}}, 1}, {{5, {3}}, 0.5}, {{3, {3}}, 0.5}};
  const auto asked = most_fractional_branching(no_restrictions(4), packs);
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->size(), 2U);
  const columns::CountRow at_most = (*asked)[0].counts.at(0), at_least = (*asked)[1].counts.at(0);
  EXPECT_EQ(at_most.length, 5);
  EXPECT_EQ(at_most.packs, 2);
  EXPECT_FALSE(at_most.at_least);
  EXPECT_EQ(at_least.length, 5);
  EXPECT_EQ(at_least.packs, 3);
  EXPECT_TRUE(at_least.at_least);
}

// One pack of length 5 and one of length 3, each in halves: only where the tasks are is open.
std::vector<columns::FractionalPack> halves() {
  return {{{5, {0, 1}}, 0.5}, {{5, {2}}, 0.5}, {{3, {0}}, 0.5}, {{3, {1, 2}}, 0.5}};
}

TEST(Questions, AskForTheLengthOfATasksPackWhereCountsAreWhole) {
  const auto asked = most_fractional_branching(no_restrictions(3), halves());
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->size(), 2U);
  EXPECT_EQ((*asked)[0].least_length[0], 5);
  EXPECT_EQ((*asked)[0].below_length[0], kInfinity);
  EXPECT_EQ((*asked)[1].least_length[0], 0);
  EXPECT_EQ((*asked)[1].below_length[0], 5);
  for (const columns::Restrictions& child : *asked)
    for (const int other : {1, 2}) {
      EXPECT_EQ(child.least_length[other], 0);
      EXPECT_EQ(child.below_length[other], kInfinity);
    }
}

// What the node knows of the task stays true in its children.
TEST(Questions, ChildrenKeepTheRestrictionsOfTheirNode) {
  columns::Restrictions node = no_restrictions(3);
  node.least_length[0] = 2;
  node.below_length[0] = 6;
  const auto asked = most_fractional_branching(node, halves());
  ASSERT_TRUE(asked);
  EXPECT_EQ((*asked)[0].least_length[0], 5);
  EXPECT_EQ((*asked)[0].below_length[0], 6);
  EXPECT_EQ((*asked)[1].least_length[0], 2);
  EXPECT_EQ((*asked)[1].below_length[0], 5);
}

TEST(Questions, NoneIsOpenWhereAllPacksAreWhole) {
  EXPECT_FALSE(most_fractional_branching(no_restrictions(3), {{{5, {0, 1}}, 1}, {{3, {2}}, 1}}));
}

// All ways to put the tasks into the packs.
bool can_fill(const std::vector<int>& needs, int packs, int procs, int max_tasks) {
  std::vector<int> pack_of(needs.size(), 0);
  for (;;) {
    std::vector<int> used(packs, 0), count(packs, 0);
    for (std::size_t i = 0; i < needs.size(); ++i) {
      used[pack_of[i]] += needs[i];
      ++count[pack_of[i]];
    }
    bool fits = true;
    for (int b = 0; b < packs; ++b) fits = fits && used[b] <= procs && count[b] <= max_tasks;
    if (fits) return true;
    std::size_t i = 0;
    while (i < needs.size() && pack_of[i] == packs - 1) pack_of[i++] = 0;
    if (i == needs.size()) return false;
    ++pack_of[i];
  }
}

TEST(FillPacks, EqualsEnumeration) {
  Rng rng(41);
  int filled = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const int packs = static_cast<int>(rng.between(1, 3)),
              procs = static_cast<int>(rng.between(2, 10)),
              max_tasks = static_cast<int>(rng.between(1, 4));
    std::vector<int> needs(rng.between(1, 7));
    for (int& need : needs) need = static_cast<int>(rng.between(1, procs));
    SHOW_ON_FAILURE(packs);
    SHOW_ON_FAILURE(procs);
    SHOW_ON_FAILURE(max_tasks);
    SHOW_ON_FAILURE(needs);
    const PackFilling filling = fill_packs(needs, packs, procs, max_tasks);
    const bool expected = can_fill(needs, packs, procs, max_tasks);
    ASSERT_EQ(filling.answer,
              expected ? PackFilling::FillingAnswer::yes : PackFilling::FillingAnswer::no);
    ++(expected ? filled : refused);
    if (!expected) continue;
    std::vector<int> times_held(needs.size(), 0);
    for (const std::vector<int>& pack : filling.packs) {
      int used = 0;
      for (const int task : pack) used += needs[task];
      for (const int task : pack) ++times_held[task];
      EXPECT_LE(used, procs);
      EXPECT_LE(static_cast<int>(pack.size()), max_tasks);
    }
    for (const int held_count : times_held) EXPECT_EQ(held_count, 1);
  }
  EXPECT_GT(filled, 200);
  EXPECT_GT(refused, 200);
}

// First fit, largest first, puts 5 and 4 together, and has to take that back.
TEST(FillPacks, TakesBackWhatDoesNotFit) {
  const PackFilling filling = fill_packs({5, 4, 4, 3, 2, 2}, 2, 10, 6);
  EXPECT_EQ(filling.answer, PackFilling::FillingAnswer::yes);
}

TEST(FillPacks, SaysThatItDoesNotKnowWhereItsStepsAreOver) {
  EXPECT_EQ(fill_packs({5, 4, 4, 3, 2, 2}, 2, 10, 6, 5).answer,
            PackFilling::FillingAnswer::unknown);
}

}  // namespace
}  // namespace cosched::packs::exact
