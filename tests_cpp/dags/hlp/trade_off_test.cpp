// The trade-off between the measures of LP*, with the outer problem that chooses its weights.
#include "cosched/dags/hlp/trade_off.hpp"

#include <gtest/gtest.h>

#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/fractional.hpp"
#include "cosched/dags/hlp/slice_model.hpp"
#include "cosched/opt/outer_problem.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

TEST(TradeOff, GivesTheOuterProblemWeightsWhereNoMeasureDecidesAlone) {
  const Instance instance = graphs::make({{3, 2}, {2, 1}, {6, 3}}, {{0, 1}}, {1, 1});
  EXPECT_NEAR(hlp::balance_loads(instance).value, 11.0 / 3, 1e-12);
  EXPECT_EQ(hlp::critical_path_bound(instance), 3);

  hlp::TradeOff trade_off(instance);
  EXPECT_NEAR(trade_off.minimise({1.0 / 3, 2.0 / 3, 0}).bound, 11.0 / 3, 1e-12);
  EXPECT_NEAR(trade_off.minimise({0, 0, 1}).bound, 3, 1e-12);
  EXPECT_NEAR(trade_off.minimise({0.25, 0.5, 0.25}).bound, 3.75, 1e-12);

  opt::OuterProblem outer(trade_off, instance.types() + 1);
  outer.search_path_weight({1.0 / 3, 2.0 / 3});
  outer.close_gap(1e-9);
  EXPECT_NEAR(outer.proof().bound, 3.75, 1e-8);
  const std::vector<double> expected{0.25, 0.5, 0.25};
  for (std::size_t r = 0; r < expected.size(); ++r)
    EXPECT_NEAR(outer.proof().weights[r], expected[r], 1e-6);
  const Table x = outer.combination();
  EXPECT_NEAR(x(0, 0), 0.75, 1e-6);
  EXPECT_NEAR(x(1, 0), 0, 1e-6);
  EXPECT_NEAR(x(2, 0), 0.25, 1e-6);
}

}  // namespace
}  // namespace cosched::dags
