// The bound transfers: below the optimum, its certificates hold and damaged ones do not.
#include "cosched/dags/transfers_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "dags/transfer_graphs.hpp"

namespace cosched::dags {
namespace {

TransfersBound transfers_of(const Instance& instance, std::optional<double> upper = {}) {
  const WindowsBound windows = windows_bound(instance, hlp(instance).certificate);
  TransfersOptions options;
  options.upper = upper;
  return transfers_bound(instance, windows.certificate, options);
}

Instance small(Rng& rng, int round) {
  graphs::RandomOptions options;
  options.types = 1 + round % 3;
  options.tasks = 1 + static_cast<int>(rng.below(6));
  options.most_units = 2;
  options.density = 0.8 * rng.uniform();
  options.cannot = round % 2 == 0 ? 0.15 : 0.4;
  options.integers = round % 4 == 0;
  const double ccr = round % 5 == 0 ? 0.1 : round % 5 < 3 ? 1 : 5;
  return graphs::with_random_transfers(rng, graphs::random(rng, options), ccr);
}

TEST(TransfersBound, IsBelowTheOptimumOfThousandsOfSmallInstances) {
  Rng rng(31);
  int better = 0, met = 0;
  double ratio = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    const Instance instance = small(rng, round);
    const double optimum = graphs::exhaustive(instance);
    const double plain = windows_bound(instance, hlp(instance).certificate).value;
    const TransfersBound bound =
        transfers_of(instance, round % 5 == 0 ? std::optional(optimum) : std::nullopt);
    ASSERT_TRUE(bound.complete);
    ASSERT_LE(bound.value, optimum * (1 + 1e-9)) << round;
    ASSERT_GE(bound.value, plain) << round;
    ASSERT_EQ(certified_bound(instance, bound.certificate), bound.value) << round;
    better += bound.value > plain * (1 + 1e-6);
    met += bound.value >= optimum * (1 - 1e-3);
    ratio += optimum > 0 ? bound.value / optimum : 1;
  }
  std::printf("better %d met %d mean %.4f\n", better, met, ratio / kRounds);
  EXPECT_GE(better, kRounds / 4);
  EXPECT_GE(met, kRounds * 8 / 10);
}

// Bound / optimum on average, at three ratios of communication to computation.
TEST(TransfersBound, IsTightOnSmallGraphs) {
  for (const auto& [ccr, least] : {std::pair{0.1, 0.99}, {1.0, 0.97}, {5.0, 0.93}}) {
    Rng rng(32);
    double sum = 0, plain = 0;
    constexpr int kRounds = 60;
    for (int round = 0; round < kRounds; ++round) {
      graphs::RandomOptions options;
      options.tasks = 7;
      options.most_units = 2;
      options.density = 0.35;
      Instance graph = graphs::random(rng, options);
      if (round % 2 == 0) {  // related times
        Table times = graph.times();
        for (Eigen::Index task = 0; task < times.rows(); ++task) {
          const double time = times.row(task).minCoeff();
          times.row(task) << 3 * time, time;
        }
        graph = Instance(times, graph.graph(), graph.units());
      }
      const Instance instance = graphs::with_random_transfers(rng, graph, ccr);
      const double optimum = graphs::exhaustive(instance);
      sum += transfers_of(instance).value / optimum;
      plain += windows_bound(instance, hlp(instance).certificate).value / optimum;
    }
    std::printf("ccr %.1f mean %.4f, windows %.4f\n", ccr, sum / kRounds, plain / kRounds);
    EXPECT_GE(sum / kRounds, least) << ccr;
  }
}

}  // namespace
}  // namespace cosched::dags
