#include "cosched/opt/cover_lp.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/lp/glpk.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

struct Columns {
  std::vector<double> cost;
  std::vector<std::vector<int>> rows;
};

Columns random_columns(int rows, int count, Rng& rng) {
  Columns columns;
  for (int j = 0; j < count; ++j) {
    std::vector<int> of;
    for (int i = 0; i < rows; ++i)
      if (rng.below(3) == 0) of.push_back(i);
    columns.cost.push_back(1 + rng.uniform());
    columns.rows.push_back(of);
  }
  return columns;
}

double by_glpk(const std::vector<double>& right, double artificial, const Columns& columns) {
  lp::Model model;
  for (std::size_t i = 0; i < right.size(); ++i) {
    model.add_row(right[i], kInfinity);
    model.add_entry(static_cast<int>(i), model.add_column(artificial), 1);
  }
  for (std::size_t j = 0; j < columns.cost.size(); ++j) {
    const int column = model.add_column(columns.cost[j]);
    for (const int i : columns.rows[j]) model.add_entry(i, column, 1);
  }
  return lp::solve_glpk(model).objective;
}

TEST(CoverLp, EqualsGlpkWhileItGrows) {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    const int rows = static_cast<int>(rng.between(2, 25));
    std::vector<double> right(rows, 1.0);
    right[0] = 3;
    right[rows - 1] = 0;
    CoverLp master(right, 10);
    Columns all;
    for (int step = 0; step < 4; ++step) {
      const Columns extra_columns = random_columns(rows, 15, rng);
      for (std::size_t j = 0; j < extra_columns.cost.size(); ++j) {
        master.add_column(extra_columns.cost[j], extra_columns.rows[j]);
        all.cost.push_back(extra_columns.cost[j]);
        all.rows.push_back(extra_columns.rows[j]);
      }
      ASSERT_TRUE(master.solve(1e-10, 100'000));
      const double value = by_glpk(right, 10, all);
      EXPECT_NEAR(master.objective() / value, 1, 1e-9);
      double cost = 0;
      std::vector<double> covered(rows, 0.0);
      const std::vector<double> x = master.solution();
      for (int j = 0; j < master.columns(); ++j) {
        cost += x[j] * master.cost(j);
        EXPECT_GE(x[j], 0);
        EXPECT_GE(master.reduced_cost(j), -1e-9);
        for (const int* i = master.begin(j); i != master.end(j); ++i) covered[*i] += x[j];
      }
      EXPECT_NEAR(cost / value, 1, 1e-5);  // the rows are perturbed a little against ties
      for (int i = 0; i < rows; ++i) {
        EXPECT_GE(covered[i], right[i] - 1e-5);
        EXPECT_GE(master.dual()[i], -1e-9);
      }
    }
  }
}

TEST(CoverLp, PurgingLosesNothing) {
  Rng rng(2);
  CoverLp master(std::vector<double>(12, 1.0), 10);
  const Columns columns = random_columns(12, 200, rng);
  for (std::size_t j = 0; j < columns.cost.size(); ++j)
    master.add_column(columns.cost[j], columns.rows[j]);
  ASSERT_TRUE(master.solve(1e-10, 100'000));
  const double value = master.objective();
  const int before = master.columns();
  const std::vector<int> number = master.drop_columns(0.01);
  EXPECT_LT(master.columns(), before);
  EXPECT_EQ(static_cast<int>(number.size()), before);
  for (int j = 0; j < before; ++j) {
    if (number[j] >= 0 && j >= 12) {
      EXPECT_EQ(master.cost(number[j]), columns.cost[j - 12]);
    }
  }
  ASSERT_TRUE(master.solve(1e-10, 100'000));
  EXPECT_NEAR(master.objective(), value, 1e-9);
}

// What no column covers, the artificial columns do, at their price.
TEST(CoverLp, ArtificialColumnsShowWhatCannotBeCovered) {
  CoverLp master({1, 1}, 100);
  const int column = master.add_column(2, {0});
  ASSERT_TRUE(master.solve(1e-10, 1000));
  EXPECT_NEAR(master.objective(), 102, 1e-9);
  EXPECT_NEAR(master.solution()[column], 1, 1e-9);
  EXPECT_NEAR(master.solution()[1], 1, 1e-9);
}

}  // namespace
}  // namespace cosched::opt
