#include "cosched/moldable/minsum/bound.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

void expect_exact(const Instance& instance, const minsum::MinsumOptions& options = {}) {
  const minsum::IntervalModel model = minsum::make_model(instance, options);
  const minsum::MinsumSolution solution = minsum::solve(model);
  EXPECT_NEAR(solution.value, solution.primal, 1e-9 * solution.primal);
  EXPECT_NEAR(solution.value, minsum::bound_by_glpk(instance, options), 1e-9 * solution.value);
  EXPECT_NEAR(minsum::lagrangian(model, solution.price), solution.value, 1e-12 * solution.value);
  for (std::size_t j = 0; j + 1 < solution.price.size(); ++j)
    EXPECT_GE(solution.price[j], solution.price[j + 1]);
}

TEST(Minsum, StructuredSimplexEqualsGlpk) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne})
    for (const int n : {1, 3, 25, 120})
      for (const int m : {1, 7, 50})
        for (const bool tight : {false, true}) {
          const Instance instance = workload(kind, n, m, 7 * n + m);
          SHOW_ON_FAILURE(instance);
          minsum::MinsumOptions options;
          options.tight = tight;
          expect_exact(instance, options);
          options.refine = 4;
          expect_exact(instance, options);
        }
}

TEST(Minsum, StructuredSimplexEqualsGlpkOnTiesAndReleases) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(1, 30)), m = static_cast<int>(rng.between(1, 8));
      const Instance instance = small_instance(kind, n, m, seed, seed % 2 == 1);
      SHOW_ON_FAILURE(instance);
      double weight = 0;
      for (const double w : instance.weights()) weight += w;
      if (weight == 0) continue;
      minsum::MinsumOptions options;
      options.refine = 1 + static_cast<int>(seed % 3);
      expect_exact(instance, options);
    }
}

TEST(Minsum, IdenticalJobsDoNotCycle) {
  Table table(60, 8);
  for (int i = 0; i < 60; ++i)
    for (int q = 1; q <= 8; ++q) table(i, q - 1) = 4.0 / q;
  expect_exact(Instance(Times(table), std::vector<double>(60, 1)));
}

TEST(Minsum, IsBelowTheOptimumOnAnyGrid) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (int n = 1; n <= 4; ++n)
      for (int m = 1; m <= 4; ++m)
        for (std::uint64_t seed = 0; seed < (n < 4 ? 30 : 6); ++seed) {
          SHOW_ON_FAILURE(kind);
          const bool releases = seed % 2 == 1;
          const Instance instance =
              small_instance(kind, n, m, 1000 * seed + 17 * n + 5 * m, releases);
          const double optimum = exhaustive_optima(instance).minsum * (1 + 1e-9);
          minsum::MinsumOptions options;
          for (options.refine = 1; options.refine <= 8; options.refine *= 2)
            EXPECT_LE(minsum::bound(instance, options), optimum);
          // Grids that stop before the jobs can end, or start late.
          options.refine = 1;
          for (const std::vector<double>& grid :
               {std::vector<double>{0.01}, {0, 0.3, 0.4}, {5, 100}, {0.5, 1, 1.5, 2, 2.5, 3}}) {
            options.grid = grid;
            EXPECT_LE(minsum::bound(instance, options), optimum);
          }
        }
}

TEST(Minsum, FinerGridsNeverLower) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne}) {
    const Instance instance = workload(kind, 40, 20, 3);
    SHOW_ON_FAILURE(instance);
    for (const bool tight : {false, true}) {
      minsum::MinsumOptions options;
      options.tight = tight;
      double last = 0;
      for (options.refine = 1; options.refine <= 16; options.refine *= 2) {
        const double bound = minsum::bound(instance, options);
        EXPECT_GE(bound, last * (1 - 1e-12));
        last = bound;
      }
      EXPECT_GT(last, 1.1 * minsum::bound(instance, {std::nullopt, 1, tight}));
    }
    EXPECT_GE(minsum::bound(instance, {std::nullopt, 1, true}),
              minsum::bound(instance, {std::nullopt, 1, false}));
  }
}

// An interval (C, 2C] with a surface row, and one without end, are the same bound.
TEST(Minsum, TheLastIntervalMayBeEndless) {
  const Instance instance = workload(Kind::mixed, 50, 20, 5);
  SHOW_ON_FAILURE(instance);
  std::vector<double> grid = minsum::make_default_grid(instance);
  minsum::MinsumOptions options;
  options.grid = grid;
  const double with = minsum::bound(instance, options);
  grid.pop_back();
  options.grid = grid;
  EXPECT_NEAR(minsum::bound(instance, options), with, 1e-9 * with);
}

TEST(Minsum, NoWeightNoBound) {
  const Instance instance(Times(Table(3, 2, 1.0)), {0, 0, 0});
  EXPECT_EQ(minsum::bound(instance), 0);
}

TEST(Minsum, RefusesBadGrids) {
  const Instance instance = counterexample();
  for (const std::vector<double>& grid :
       {std::vector<double>{}, {0}, {1, 1}, {2, 1}, {-1, 1}, {1, kInfinity}}) {
    minsum::MinsumOptions options;
    options.grid = grid;
    EXPECT_THROW(minsum::bound(instance, options), InvalidInstance);
  }
  EXPECT_THROW(minsum::bound(instance, {std::nullopt, 0, true}), InvalidInstance);
}

}  // namespace
}  // namespace cosched::moldable
