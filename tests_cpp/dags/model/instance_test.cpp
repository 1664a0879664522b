#include "cosched/dags/model/instance.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/dags/model/paths.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/model/time_grain.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

std::string refusal(const std::vector<std::vector<double>>& times, const std::vector<Edge>& edges,
                    const std::vector<int>& units) {
  try {
    graphs::make(times, edges, units);
  } catch (const InvalidInstance& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DagsInstance, RefusesBadDataWithThePlaceOfIt) {
  const double nan = std::nan("");
  EXPECT_NE(refusal({{1, 2}, {3, nan}}, {}, {1, 1}).find("times[1, 1] = nan"), std::string::npos);
  EXPECT_NE(refusal({{1, -1}}, {}, {1, 1}).find("times[0, 1] = -1"), std::string::npos);
  EXPECT_NE(refusal({{1, -kInfinity}}, {}, {1, 1}).find("times[0, 1] = -inf"), std::string::npos);
  EXPECT_NE(refusal({{1, 1}, {kInfinity, kInfinity}}, {}, {1, 1}).find("task 1 can run nowhere"),
            std::string::npos);
  EXPECT_NE(refusal({{1, 2}}, {}, {1}).find("units has 1 entries"), std::string::npos);
  EXPECT_NE(refusal({{1, 2}}, {}, {1, 0}).find("units[1] = 0"), std::string::npos);
  EXPECT_NE(refusal({}, {}, {}).find("at least one task"), std::string::npos);
  EXPECT_NE(refusal({{1, 1}, {1, 1}}, {{0, 1}, {1, 0}}, {1, 1}).find("cycle"), std::string::npos);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_NE(refusal({{huge, 1}, {huge, 1}}, {}, {1, 1}).find("overflow"), std::string::npos);
  EXPECT_EQ(refusal({{0, kInfinity}}, {}, {1, 1}), "accepted");
}

TEST(DagsInstance, RefusesAllocationsThatATaskCannotRunOn) {
  const Instance instance = graphs::make({{1, kInfinity}, {1, 1}}, {}, {1, 1});
  EXPECT_NO_THROW(require_allocation(instance, {0, 1}));
  EXPECT_THROW(require_allocation(instance, {1, 1}), InvalidInstance);
  EXPECT_THROW(require_allocation(instance, {0}), InvalidInstance);
  EXPECT_THROW(require_allocation(instance, {0, 2}), InvalidInstance);
}

TEST(DagsInstance, RanksAndEndsAreLongestPaths) {
  const Instance instance =
      graphs::make({{1, 1}, {2, 1}, {4, 1}, {8, 1}}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, {1, 1});
  const std::vector<double> duration{1, 2, 4, 8};
  EXPECT_EQ(compute_ranks(instance.graph(), duration), (std::vector<double>{13, 10, 12, 8}));
  EXPECT_EQ(compute_earliest_ends(instance.graph(), duration), (std::vector<double>{1, 3, 5, 13}));
}

}  // namespace
}  // namespace cosched::dags
