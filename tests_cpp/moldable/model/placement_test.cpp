#include "cosched/moldable/model/placement.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(Placement, CriteriaAreOfTheEnds) {
  const Instance instance(Times(Table{{2, 2}, {3, 3}}), {1, 2}, {});
  const Placement placement{{1, 1}, {4, 2}, {6, 5}};
  EXPECT_EQ(makespan(placement), 6);
  EXPECT_EQ(weighted_completion(instance, placement), 1 * 6 + 2 * 5);
  EXPECT_EQ(order_by_start(placement), (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace cosched::moldable
