#include "cosched/cluster/dfrs/value_kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::dfrs {
namespace {

TEST(ValueKinds, AreTheDistinctValuesWhetherFewOrMany) {
  Rng rng(7);
  for (const int distinct : {1, 5, 16, 17, 60}) {
    SHOW_ON_FAILURE(distinct);
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) values.push_back(0.1 * static_cast<double>(rng.below(distinct)));
    const ValueKinds kinds = find_value_kinds(values);
    EXPECT_TRUE(std::is_sorted(kinds.values.rbegin(), kinds.values.rend()));
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), kinds.values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(kinds.values[kinds.kind_of[i]], values[i]);
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return values[a] > values[b]; });
    EXPECT_EQ(sort_by_decreasing_value(values), order);
    EXPECT_EQ(sort_by_kind(kinds.kind_of, kinds.values.size()), order);
  }
}

}  // namespace
}  // namespace cosched::cluster::dfrs
