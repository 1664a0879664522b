#include "cosched/slurm/accounts/fair_tree.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

using Factors = std::vector<double>;

// The root with its own user; accounts a (1: shares 3; users 2, 3) and b (4: shares 1; user 5).
Association account_of(int parent, double shares) { return {.parent = parent, .shares = shares}; }
Association user_of(int parent, double shares) {
  return {.parent = parent, .shares = shares, .is_user = true};
}
const std::vector<Association> kTree{account_of(-1, 1), user_of(0, 1), account_of(0, 3),
                                     user_of(2, 2),     user_of(2, 1), account_of(0, 1),
                                     user_of(5, 1)};

TEST(SlurmFairTree, NobodyHasUsedAnythingAllAreFirst) {
  EXPECT_EQ(fair_tree(kTree, Factors(7)), (Factors{0, 1, 0, 1, 1, 0, 1}));
}

TEST(SlurmFairTree, AnAccountsUsersComeBeforeTheNextAccounts) {
  // Account a (3 of 5 shares, 70 of 100 used) is better than b (1, 30), although one of its users
  // used most.
  EXPECT_EQ(fair_tree(kTree, {100, 0, 70, 10, 60, 30, 30}), (Factors{0, 1, 0, 0.75, 0.5, 0, 0.25}));
  // With 10 of 100, b is.
  EXPECT_EQ(fair_tree(kTree, {100, 0, 90, 30, 60, 10, 10}), (Factors{0, 1, 0, 0.5, 0.25, 0, 0.75}));
}

TEST(SlurmFairTree, EqualOnesHaveOneRankAndTheNextComesAfterAll) {
  EXPECT_EQ(fair_tree(kTree, {100, 0, 90, 60, 30, 10, 10}), (Factors{0, 1, 0, 0.5, 0.5, 0, 0.75}));
  EXPECT_EQ(
      fair_tree(kTree, {100, 20, 60, 40, 20, 20, 20}),
      (Factors{0, 1, 0, 1, 1, 0, 1}));  // the first user of an equal account inherits the rank
}

TEST(SlurmFairTree, OfEqualOnesUsersComeFirst) {
  // The root's user, a and b are equal: the user is first, then the better one of a, which inherits
  // its rank.
  EXPECT_EQ(fair_tree(kTree, {100, 20, 60, 10, 50, 20, 20}), (Factors{0, 1, 0, 1, 0.5, 0, 0.5}));
}

TEST(SlurmFairTree, WithoutSharesOneIsLast) {
  std::vector<Association> tree = kTree;
  tree[3].shares = 0;
  EXPECT_EQ(fair_tree(tree, {100, 0, 60, 0, 60, 40, 40})[3], 0.5);
}

TEST(SlurmFairTree, AUserWithTheSharesOfItsAccountComesFirstThere) {
  std::vector<Association> tree = kTree;
  tree[4].shares = -1;  // the one that used most of a, where the other has all shares now
  EXPECT_EQ(fair_tree(tree, {100, 0, 70, 10, 60, 30, 30}), (Factors{0, 1, 0, 0.5, 0.75, 0, 0.25}));
}

TEST(SlurmFairTree, TheChildrenOfAnAccountWithTheSharesOfItsParentCompeteAbove) {
  std::vector<Association> tree = kTree;
  tree[2].shares = -1;
  // Users 2 (2 shares of 5, 20 of 100 used), 3 (1, 50), account b (1, 30) and the root's own user
  // (1, 0) are siblings.
  tree[3].shares = 2;
  EXPECT_EQ(fair_tree(tree, {100, 0, 70, 20, 50, 30, 30}), (Factors{0, 1, 0, 0.75, 0.25, 0, 0.5}));
}

}  // namespace
}  // namespace cosched::slurm
