// From shares to an allocation.
#include "cosched/dags/hlp/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

TEST(Rounding, AsInThePaper) {
  Table times(4, 2), x(4, 2);
  times = {{5, 1}, {5, 1}, {5, kInfinity}, {kInfinity, 1}};
  x = {{0.5, 0.5}, {0.5 - 1e-6, 0.5 + 1e-6}, {0, 1}, {1, 0}};
  EXPECT_EQ(hlp::round_allocation(times, x), (Allocation{0, 1, 0, 1}));
  x(0, 0) -= 1e-10;  // within the tolerance of 1/2
  EXPECT_EQ(hlp::round_allocation(times, x)[0], 0);
  EXPECT_EQ(hlp::round_allocation(times, x, 0.6), (Allocation{1, 1, 0, 1}));
  Table times3(2, 3), x3(2, 3);
  times3 = {{3, 2, 1}, {3, 2, 1}};
  x3 = {{0.4, 0.4, 0.2}, {0.2, 0.4, 0.4}};
  EXPECT_EQ(hlp::round_allocation(times3, x3), (Allocation{1, 2}));
  EXPECT_THROW(hlp::round_allocation(times, x3), InvalidInstance);
  x(0, 0) = std::nan("");
  EXPECT_THROW(hlp::round_allocation(times, x), InvalidInstance);
}

TEST(CheapestTypes, GoesFromTheLoadsToTheFastest) {
  const Instance instance =
      graphs::make({{4, 1}, {3, 3}, {2, 5}, {kInfinity, 7}, {6, kInfinity}}, {}, {2, 1});
  const std::vector<double> weights{0.2, 0.8, 0};  // 0.1 a second on type 0, 0.8 on type 1
  EXPECT_EQ(hlp::cheapest_types(instance, weights, 0), (Allocation{0, 0, 0, 1, 0}));
  EXPECT_EQ(hlp::cheapest_types(instance, weights, 0.1), (Allocation{0, 0, 0, 1, 0}));
  EXPECT_EQ(hlp::cheapest_types(instance, weights, 0.3), (Allocation{1, 0, 0, 1, 0}));
  EXPECT_EQ(hlp::cheapest_types(instance, {0, 0, 1}, 1), (Allocation{1, 0, 0, 1, 0}));
}

}  // namespace
}  // namespace cosched::dags
