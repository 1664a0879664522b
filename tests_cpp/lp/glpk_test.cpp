#include "cosched/lp/glpk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::lp {
namespace {

// minimise -x - 2y  s.t.  x + y <= 4, x + 3y <= 6, 0 <= x <= 3, y >= 0: optimum (3, 1), -5.
Model small_model() {
  Model model;
  model.add_column(-1, 0, 3);
  model.add_column(-2);
  model.add_row(-kInfinity, 4);
  model.add_row(-kInfinity, 6);
  model.add_entry(0, 0, 1);
  model.add_entry(0, 1, 1);
  model.add_entry(1, 0, 1);
  model.add_entry(1, 1, 3);
  return model;
}

// Assignment of n workers to n jobs with random costs: a dense enough model to take memory.
Model assignment(int n, std::uint64_t seed) {
  Rng rng(seed);
  Model model;
  for (int k = 0; k < 2 * n; ++k) model.add_row(1, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int column = model.add_column(rng.uniform());
      model.add_entry(i, column, 1);
      model.add_entry(n + j, column, 1);
    }
  return model;
}

class EveryMethod : public testing::TestWithParam<GlpkOptions::Method> {};

TEST_P(EveryMethod, SolvesASmallModel) {
  for (const bool presolve : {false, true}) {
    GlpkOptions options;
    options.method = GetParam();
    options.presolve = presolve;
    const Solution solution = solve_glpk(small_model(), options);
    ASSERT_EQ(solution.status, Status::optimal);
    EXPECT_NEAR(solution.objective, -5, 1e-6);
    EXPECT_NEAR(solution.x[0], 3, 1e-5);
    EXPECT_NEAR(solution.x[1], 1, 1e-5);
    // Strong duality: rows at their upper bounds, x at its bound 3.
    EXPECT_NEAR(4 * solution.dual[0] + 6 * solution.dual[1] + 3 * solution.reduced[0], -5, 1e-5);
  }
}

TEST_P(EveryMethod, InfeasibleIsAStatus) {
  Model model = small_model();
  model.row_lower[0] = 3.9;
  model.row_upper[1] = 0.5;
  GlpkOptions options;
  options.method = GetParam();
  EXPECT_EQ(solve_glpk(model, options).status, Status::infeasible);
}

INSTANTIATE_TEST_SUITE_P(Glpk, EveryMethod,
                         testing::Values(GlpkOptions::Method::primal, GlpkOptions::Method::dual));

TEST(Glpk, UnboundedIsAStatus) {
  Model model;
  model.add_column(-1);
  model.add_row(0, kInfinity);
  model.add_entry(0, 0, 1);
  for (const bool presolve : {false, true}) {
    GlpkOptions options;
    options.presolve = presolve;
    options.method = GlpkOptions::Method::primal;
    EXPECT_EQ(solve_glpk(model, options).status, Status::unbounded);
  }
}

TEST(Glpk, CrossedBoundsAreInfeasible) {
  Model model = small_model();
  model.lower[0] = 4;  // upper is 3
  EXPECT_EQ(solve_glpk(model).status, Status::infeasible);
}

TEST(Glpk, IntegerProgrammeAgreesWithEnumeration) {
  Rng rng(7);
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    const int n = 8;
    Model model;
    const int capacity = 20;
    const int row = model.add_row(-kInfinity, capacity);
    std::vector<int> weight(n), value(n);
    for (int j = 0; j < n; ++j) {
      weight[j] = static_cast<int>(rng.between(1, 12));
      value[j] = static_cast<int>(rng.between(1, 30));
      model.add_entry(row, model.add_column(-value[j], 0, 1, true), weight[j]);
    }
    int best = 0;
    for (int set = 0; set < 1 << n; ++set) {
      int w = 0, v = 0;
      for (int j = 0; j < n; ++j)
        if (set >> j & 1) w += weight[j], v += value[j];
      if (w <= capacity) best = std::max(best, v);
    }
    const Solution solution = solve_glpk(model);
    ASSERT_EQ(solution.status, Status::optimal);
    EXPECT_NEAR(solution.objective, -best, 1e-9);
    EXPECT_NEAR(solution.bound, -best, 1e-9);
  }
}

TEST(Glpk, BadModelsAreRefusedBeforeGlpkSeesThem) {
  Model nan_cost = small_model();
  nan_cost.cost[1] = std::nan("");
  EXPECT_THROW(solve_glpk(nan_cost), SolverError);
  Model infinite_entry = small_model();
  infinite_entry.entries[2].value = kInfinity;
  EXPECT_THROW(solve_glpk(infinite_entry), SolverError);
  Model outside = small_model();
  outside.add_entry(2, 0, 1);
  EXPECT_THROW(solve_glpk(outside), SolverError);
  Model twice = small_model();
  twice.add_entry(0, 0, 1);
  EXPECT_THROW(solve_glpk(twice), SolverError);
}

// A memory limit makes GLPK itself give up in the middle of a call, which by
// default aborts the process.
TEST(Glpk, FailureInsideACallIsAnExceptionAndLeavesTheThreadUsable) {
  GlpkOptions starved;
  starved.memory_limit_mb = 1;
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(solve_glpk(assignment(200, 1), starved), SolverError);
    EXPECT_NEAR(solve_glpk(small_model()).objective, -5, 1e-9);
  }
}

TEST(Glpk, EightThreadsSolveAndFailIndependently) {
  const double expected = solve_glpk(assignment(25, 3)).objective;
  std::vector<std::thread> threads;
  std::vector<int> correct(8, 0);
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([k, expected, &correct] {
      for (int round = 0; round < 10; ++round) {
        if (k % 2 == 1 && round % 3 == 0) {
          GlpkOptions starved;
          starved.memory_limit_mb = 1;
          EXPECT_THROW(solve_glpk(assignment(200, k), starved), SolverError);
        }
        correct[k] += std::abs(solve_glpk(assignment(25, 3)).objective - expected) < 1e-9;
      }
    });
  for (auto& thread : threads) thread.join();
  for (const int count : correct) EXPECT_EQ(count, 10);
}

// An equality knapsack that branch and bound cannot settle quickly.
Model hard_knapsack() {
  Model model;
  const int row = model.add_row(10001, 10001);
  for (int j = 0; j < 40; ++j)
    model.add_entry(row, model.add_column(1 + j % 3, 0, 1, true), 1000 + 2 * j);
  return model;
}

TEST(Glpk, AnIntegerProgrammeReturnsABoundAtItsTimeLimit) {
  const ScopedTimeLimit limit(0.05);
  const Solution solution = solve_glpk(hard_knapsack());
  EXPECT_EQ(solution.status, Status::time_limit);
  EXPECT_GT(solution.bound, 0);  // that of its relaxation at least
  if (!solution.x.empty()) {
    EXPECT_LE(solution.bound, solution.objective + 1e-9);
  }
}

TEST(Glpk, ALinearProgrammeThrowsAtItsTimeLimit) {
  for (const bool presolve : {false, true}) {
    GlpkOptions options;
    options.presolve = presolve;
    {
      const ScopedTimeLimit limit(0.01);
      EXPECT_THROW(solve_glpk(assignment(150, 1), options), TimeLimit);
    }
    EXPECT_NEAR(solve_glpk(small_model(), options).objective, -5, 1e-9);
  }
}

TEST(Glpk, WhatTheHookThrowsComesThroughAndLeavesTheThreadUsable) {
  for (const Model& model : {assignment(200, 1), hard_knapsack()}) {
    set_interrupt_hook([] {
      static int calls = 0;
      if (++calls % 3 == 0) throw std::runtime_error("stop");
    });
    EXPECT_THROW(solve_glpk(model), std::runtime_error);
    set_interrupt_hook(nullptr);
    EXPECT_NEAR(solve_glpk(small_model()).objective, -5, 1e-9);
  }
}

TEST(Glpk, AProcessOfItsOwnGivesTheSame) {
  GlpkOptions apart;
  apart.child_from_entries = 0;
  for (const Model& model : {small_model(), assignment(20, 1)}) {
    const Solution here = solve_glpk(model), in_process = solve_glpk(model, apart);
    EXPECT_EQ(in_process.status, Status::optimal);
    EXPECT_EQ(in_process.objective, here.objective);
    EXPECT_EQ(in_process.bound, here.bound);
    EXPECT_EQ(in_process.x, here.x);
    EXPECT_EQ(in_process.dual, here.dual);
    EXPECT_EQ(in_process.reduced, here.reduced);
  }
  Model impossible = small_model();
  impossible.add_row(9, kInfinity);
  impossible.add_entry(2, 0, 1);
  EXPECT_EQ(solve_glpk(impossible, apart).status, Status::infeasible);
  apart.memory_limit_mb = 1;
  EXPECT_THROW(solve_glpk(assignment(150, 1), apart), SolverError);
}

TEST(Glpk, AProcessOfItsOwnEndsWhenItIsStopped) {
  GlpkOptions apart;
  apart.child_from_entries = 0;
  {
    const ScopedTimeLimit limit(0.01);
    EXPECT_THROW(solve_glpk(assignment(150, 1), apart), TimeLimit);
  }
  set_interrupt_hook([] { throw std::runtime_error("stop"); });
  EXPECT_THROW(solve_glpk(assignment(200, 1), apart), std::runtime_error);
  set_interrupt_hook(nullptr);
  EXPECT_NEAR(solve_glpk(small_model(), apart).objective, -5, 1e-9);
}

TEST(Glpk, AProcessOfItsOwnAnswersAHostThatIgnoresItsChildren) {
  GlpkOptions apart;
  apart.child_from_entries = 0;
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  const Solution solution = solve_glpk(assignment(20, 1), apart);
  GlpkOptions small = apart;
  small.memory_limit_mb = 1;
  EXPECT_THROW(solve_glpk(assignment(150, 1), small), SolverError);
  std::signal(SIGCHLD, before);
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.objective, solve_glpk(assignment(20, 1)).objective);
}

}  // namespace
}  // namespace cosched::lp
