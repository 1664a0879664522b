#include "cosched/cluster/dfrs/node_list.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::dfrs {
namespace {

void expect_holds(const NodeList& list, const std::vector<int>& nodes) {
  EXPECT_EQ(std::vector<int>(list.begin(), list.end()), nodes);
  EXPECT_EQ(list.empty(), nodes.empty());
  EXPECT_TRUE(list.is_equal_to(nodes.data(), nodes.size()));
}

// Short lists and long ones, copied and moved onto each other.
TEST(NodeList, BehavesLikeAVector) {
  Rng rng(5);
  std::vector<NodeList> lists(4);
  std::vector<std::vector<int>> vectors(4);
  for (int step = 0; step < 5000; ++step) {
    SHOW_ON_FAILURE(step);
    const std::size_t a = rng.below(4), b = rng.below(4);
    switch (rng.below(5)) {
      case 0: {
        const std::size_t count = rng.below(8);
        lists[a].append(count, step);
        vectors[a].insert(vectors[a].end(), count, step);
        break;
      }
      case 1:
        lists[a] = lists[b];
        vectors[a] = vectors[b];
        break;
      case 2:
        if (a == b) break;
        lists[a] = std::move(lists[b]);
        lists[b] = NodeList{1, 2};
        vectors[a] = vectors[b];
        vectors[b] = {1, 2};
        break;
      case 3: {
        NodeList moved(std::move(lists[a]));
        expect_holds(lists[a], {});  // NOLINT: a list that was moved from is empty
        lists[a] = moved;
        break;
      }
      default:
        if (vectors[a].size() > 20) {
          vectors[a] = {9, 3, 7};
          lists[a] = NodeList(vectors[a]);
        }
        lists[a].sort();
        std::sort(vectors[a].begin(), vectors[a].end());
    }
    for (std::size_t k = 0; k < lists.size(); ++k) expect_holds(lists[k], vectors[k]);
    EXPECT_EQ(lists[a] == lists[b], vectors[a] == vectors[b]);
  }
}

}  // namespace
}  // namespace cosched::cluster::dfrs
