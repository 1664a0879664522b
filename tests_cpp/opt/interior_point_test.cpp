// The interior point method against GLPK.
#include "cosched/opt/interior_point.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cosched/core/rng.hpp"
#include "cosched/lp/glpk.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

// minimise z_0 where rows z_0 + a z >= b hold, and every other column is in [-1, 1].
InequalityLp random_lp(Rng& rng, int columns, int rows) {
  InequalityLp lp;
  lp.cost.assign(columns, 0.0);
  lp.cost[0] = 1;
  for (int row = 0; row < rows; ++row) {
    std::vector<std::pair<int, double>> entries{{0, 1.0}};
    for (int column = 1; column < columns; ++column)
      if (rng.uniform() < (row % 10 == 0 ? 1 : 0.2))
        entries.emplace_back(column, 2 * rng.uniform() - 1);
    lp.add_row(entries, rng.uniform());
  }
  for (int column = 1; column < columns; ++column) {
    lp.add_row({{column, 1.0}}, -1);
    lp.add_row({{column, -1.0}}, -1);
  }
  return lp;
}

double by_glpk(const InequalityLp& lp) {
  lp::Model model;
  for (const double cost : lp.cost) model.add_column(cost, -kInfinity);
  for (int row = 0; row < lp.rows(); ++row) {
    model.add_row(lp.right[row], kInfinity);
    for (int k = lp.begin[row]; k < lp.begin[row + 1]; ++k)
      model.add_entry(row, lp.column[k], lp.value[k]);
  }
  return lp::solve_glpk(model).objective;
}

TEST(InteriorPoint, FindsTheOptimumOfGlpk) {
  Rng rng(5);
  int converged = 0;
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const int columns = 1 + static_cast<int>(rng.below(40));
    const InequalityLp lp = random_lp(rng, columns, 1 + static_cast<int>(rng.below(80)));
    std::vector<double> start(columns, 0.0);
    start[0] = 2;
    const InteriorPoint solution = solve_interior(lp, start);
    converged += solution.is_converged;
    EXPECT_NEAR(solution.value, by_glpk(lp), 1e-5) << round;
    for (int row = 0; row < lp.rows(); ++row) {
      EXPECT_GT(lp.row_value(row, solution.point), lp.right[row]);
      EXPECT_GT(solution.prices[row], 0);
    }
  }
  EXPECT_GE(converged, 180);  // rounding ends the others a little earlier
}

TEST(InteriorPoint, StopsWhenTold) {
  Rng rng(6);
  const InequalityLp lp = random_lp(rng, 10, 30);
  std::vector<double> start(10, 0.0);
  start[0] = 2;
  int calls = 0;
  const InteriorPoint solution =
      solve_interior(lp, start, {1e-9, [&](const InteriorPoint&) { return ++calls == 3; }});
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(solution.is_converged);
  EXPECT_LT(solution.value, 2);
  const InteriorPoint none = solve_interior(lp, start, {1e-9, {}, 10});
  EXPECT_TRUE(none.prices.empty());
  EXPECT_EQ(none.point, start);
}

}  // namespace
}  // namespace cosched::opt
