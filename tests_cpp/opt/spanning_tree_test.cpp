#include "cosched/opt/spanning_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/opt/tree_potentials.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

// Nodes of the path from `node` up to the root.
std::vector<int> ancestors(const SpanningTree& tree, int node) {
  std::vector<int> path;
  for (; node >= 0; node = tree.parent(node)) path.push_back(node);
  return path;
}

bool is_above(const SpanningTree& tree, int top, int node) {
  const std::vector<int> path = ancestors(tree, node);
  return std::find(path.begin(), path.end(), top) != path.end();
}

int find_join(const SpanningTree& tree, int a, int b) {
  for (const int node : ancestors(tree, a))
    if (is_above(tree, node, b)) return node;
  return -1;
}

// Sizes, children and both sides of every cut, against walks up from every node.
void expect_consistent(SpanningTree& tree) {
  const int n = tree.nodes();
  std::vector<int> order = tree.breadth_first();
  EXPECT_EQ(order.front(), 0);
  std::sort(order.begin(), order.end());
  for (int node = 0; node < n; ++node) EXPECT_EQ(order[node], node);
  for (int top = 1; top < n; ++top) {
    int below = 0;
    for (int node = 0; node < n; ++node) below += is_above(tree, top, node);
    EXPECT_EQ(tree.subtree_size(top), below);
    EXPECT_EQ(static_cast<int>(tree.smaller_side(top).size()), std::min(below, n - below));
    for (int node = 0; node < n; ++node)
      EXPECT_EQ(tree.is_in_side(node), is_above(tree, top, node) == tree.side_is_subtree());
  }
}

TEST(SpanningTree, KeepsSizesAndSidesThroughExchanges) {
  Rng rng(31);
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    const int n = 2 + static_cast<int>(rng.below(30));
    SpanningTree tree(n);
    for (int node = n - 1; node > 0; --node)
      tree.attach_subtree(node, static_cast<int>(rng.below(node)), 100 + node);
    expect_consistent(tree);
    for (int exchange = 0; exchange < 20; ++exchange) {
      const int top = 1 + static_cast<int>(rng.below(n - 1));
      std::vector<int> inner, outer;
      for (int node = 0; node < n; ++node)
        (is_above(tree, top, node) ? inner : outer).push_back(node);
      const int inside = inner[rng.below(inner.size())], outside = outer[rng.below(outer.size())];
      const std::vector<int> turned = ancestors(tree, inside);
      std::vector<int> arcs;
      for (const int node : turned) arcs.push_back(tree.arc(node));
      tree.rehang(top, inside, outside, 1000 + exchange, find_join(tree, top, outside));
      EXPECT_EQ(tree.parent(inside), outside);
      EXPECT_EQ(tree.arc(inside), 1000 + exchange);
      for (std::size_t k = 0; turned[k] != top; ++k) {  // the path to the old top, turned round
        EXPECT_EQ(tree.parent(turned[k + 1]), turned[k]);
        EXPECT_EQ(tree.arc(turned[k + 1]), arcs[k]);
      }
      expect_consistent(tree);
    }
  }
}

}  // namespace
}  // namespace cosched::opt
