// The mean times that ranks are computed of.
#include "cosched/dags/list/ranks.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

TEST(Ranks, MeanTimesAreOverTheUnitsThatCanRunATask) {
  const Instance instance = graphs::make({{1, 4}, {3, kInfinity}}, {}, {2, 1});
  EXPECT_EQ(list::mean_times(instance), (std::vector<double>{2, 3}));
}

}  // namespace
}  // namespace cosched::dags
