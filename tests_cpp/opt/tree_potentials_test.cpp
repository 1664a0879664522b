#include "cosched/opt/tree_potentials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/opt/spanning_tree.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

// below[node]: the node is in the subtree of `top`.
std::vector<char> subtree_of(SpanningTree& tree, int top) {
  std::vector<char> below(tree.nodes(), 0);
  for (const int node : tree.breadth_first())
    below[node] = node == top || (node > 0 && below[tree.parent(node)]);
  return below;
}

int random_node(Rng& rng, const std::vector<char>& below, bool wanted) {
  int node;
  do node = static_cast<int>(rng.below(below.size()));
  while ((below[node] != 0) != wanted);
  return node;
}

int find_join(const SpanningTree& tree, const std::vector<char>& below, int top, int outside) {
  std::vector<char> above(below.size(), 0);
  for (int node = tree.parent(top); node >= 0; node = tree.parent(node)) above[node] = 1;
  int join = outside;
  while (!above[join]) join = tree.parent(join);
  return join;
}

// Against an array in which every node of the subtree is moved; whole numbers, so without rounding.
// `bend`: how far up a node is hung at most, so 1 gives a path and n a bush.
void expect_values_follow(std::uint64_t seed, int n, int bend) {
  SHOW_ON_FAILURE(seed);
  SHOW_ON_FAILURE(n);
  SHOW_ON_FAILURE(bend);
  Rng rng(seed);
  SpanningTree tree(n);
  for (int node = n - 1; node > 0; --node)
    tree.attach_subtree(node, node - 1 - static_cast<int>(rng.below(std::min(bend, node))), node);
  std::vector<double> expected(n);
  for (double& value : expected) value = static_cast<double>(rng.below(100));
  TreePotentials potential(n);
  potential.assign(tree, expected);
  for (int exchange = 0; exchange < 400; ++exchange) {
    const int top = 1 + static_cast<int>(rng.below(n - 1));
    const std::vector<char> below = subtree_of(tree, top);
    const int inside = random_node(rng, below, true), outside = random_node(rng, below, false);
    const double shift = static_cast<double>(rng.below(21)) - 10;
    for (int node = 0; node < n; ++node)
      if (below[node]) expected[node] += shift;
    potential.rehang(tree, top, inside, outside, shift);
    tree.rehang(top, inside, outside, n + exchange, find_join(tree, below, top, outside));
    for (int node = 0; node < n; ++node)
      ASSERT_EQ(potential[node], expected[node]) << "exchange " << exchange << ", node " << node;
  }
}

TEST(TreePotentials, FollowEveryExchangeOfASmallTree) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    expect_values_follow(seed, 2 + static_cast<int>(seed), 30);
}

TEST(TreePotentials, FollowExchangesOfPathsAndBushes) {
  for (const int bend : {1, 3, 40, 600}) expect_values_follow(7, 600, bend);
}

}  // namespace
}  // namespace cosched::opt
