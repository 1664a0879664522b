#include "cosched/slurm/model/node_bits.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmNodeBits, EqualsASet) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const int nodes = static_cast<int>(rng.between(1, 200));
    const NodeBits a = some_nodes(rng, nodes), b = some_nodes(rng, nodes);
    const auto list = a.to_list();
    const std::set<int> members(list.begin(), list.end());
    EXPECT_EQ(a.count(), static_cast<int>(members.size()));
    EXPECT_TRUE(a.has_at_least(a.count()));
    EXPECT_FALSE(a.has_at_least(a.count() + 1));
    int common = 0;
    for (int node = 0; node < nodes; ++node) {
      EXPECT_EQ(a.has(node), members.count(node) == 1);
      common += a.has(node) && b.has(node);
    }
    EXPECT_EQ(a.count_common(b), common);
    EXPECT_EQ(a.intersects(b), common > 0);
    EXPECT_EQ(a.is_subset_of(b), common == a.count());
    NodeBits both = a;
    both &= b;
    EXPECT_EQ(both.count(), common);
    both |= a;
    EXPECT_TRUE(both == a);
    both -= a;
    EXPECT_FALSE(both.any());
  }
}

}  // namespace
}  // namespace cosched::slurm
