#include "cosched/moldable/search/pareto_front.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(ParetoFront, KeepsWhatIsNotDominated) {
  search::ParetoFront front;
  const auto offer = [&](double length, double minsum) { front.offer({length, minsum}, {}); };
  offer(3, 3);
  offer(5, 1);
  offer(1, 5);
  offer(3, 4);  // dominated
  offer(4, 3);  // dominated
  EXPECT_EQ(front.points().size(), 3u);
  offer(2, 2);  // dominates (3, 3)
  ASSERT_EQ(front.points().size(), 3u);
  EXPECT_EQ(front.points()[1].value.makespan, 2);
  offer(1, 1);  // dominates all
  EXPECT_EQ(front.points().size(), 1u);
  EXPECT_FALSE(front.accepts({1, 1}));
}

}  // namespace
}  // namespace cosched::moldable
