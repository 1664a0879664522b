#include "cosched/core/times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidInstance& error) {
    return error.what();
  }
  return "";
}

TEST(Times, AccessorsCountProcessorsFromOne) {
  const Times times(Table({{8, 5, 4}, {2, 1, 1}}));
  EXPECT_EQ(times.tasks(), 2);
  EXPECT_EQ(times.procs(), 3);
  EXPECT_EQ(times(0, 1), 8);
  EXPECT_EQ(times(1, 3), 1);
  EXPECT_EQ(times.work(0, 3), 12);
  EXPECT_EQ(times.row(1)[0], 2);
}

TEST(Times, RefusesBadEntriesByPlaceAndValue) {
  for (const double bad : {0.0, -1.5, std::nan(""), -kInfinity}) {
    const auto text = message([&] { Times(Table({{3, 2}, {1, bad}})); });
    EXPECT_NE(text.find("times[1, 1]"), std::string::npos) << text;
    EXPECT_NE(text.find(to_text(bad)), std::string::npos) << text;
  }
  EXPECT_NE(message([] { Times(Table(0, 3)); }).find("(0, 3)"), std::string::npos);
  EXPECT_NE(message([] { Times(Table(3, 0)); }).find("(3, 0)"), std::string::npos);
  const auto nowhere = message([] { Times(Table({{3, 2}, {kInfinity, kInfinity}})); });
  EXPECT_NE(nowhere.find("times[1] has no finite entry"), std::string::npos) << nowhere;
}

TEST(Times, KeepsWhatWasMeasuredAndKnowsTheBestCount) {
  const Table measured = Table({{8, 3, 5, 3, 4}, {kInfinity, 9, kInfinity, 2, kInfinity}});
  const Times times(measured);
  EXPECT_EQ(times.table(), measured);
  EXPECT_EQ(times.measured_time(0, 3), 5);
  EXPECT_EQ(times.measured_time(1, 5), kInfinity);
  EXPECT_EQ(std::vector<double>(times.row(0), times.row(0) + 5),
            (std::vector<double>{8, 3, 3, 3, 3}));
  EXPECT_EQ(std::vector<double>(times.row(1), times.row(1) + 5),
            (std::vector<double>{kInfinity, 9, 9, 2, 2}));
  std::vector<int> used;
  for (int q = 1; q <= 5; ++q) used.push_back(times.used(0, q));
  EXPECT_EQ(used, (std::vector<int>{1, 2, 2, 4, 4}));  // of equal times, the most processors
  EXPECT_EQ(times.used(1, 5), 4);
  EXPECT_EQ(times.least(1), 2);
  EXPECT_EQ(times.fewest(0), 1);
  EXPECT_EQ(times.fewest(1), 2);
}

TEST(Times, ATableThatOnlyRisesIsBestOnOneProcessor) {
  const Times times(Table{{1, 2, 3}});
  EXPECT_EQ(times(0, 3), 1);
  EXPECT_EQ(times.used(0, 3), 1);
  EXPECT_EQ(times.measured_time(0, 3), 3);
}

TEST(Times, IsItsOwnBestWhereItDoesNotIncrease) {
  const Times times(Table({{8, 5, 5}}));
  for (int q = 1; q <= 3; ++q) {
    EXPECT_EQ(times.used(0, q), q);
    EXPECT_EQ(times(0, q), times.measured_time(0, q));
  }
}

// t* and used() by their definitions, on random tables with equal and infinite times.
TEST(Times, BestCountsAreWhatAScanFinds) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    Table wild(2, 7);
    for (std::ptrdiff_t k = 0; k < wild.size(); ++k)
      wild.data()[k] = rng.below(4) == 0 ? kInfinity : static_cast<double>(rng.between(1, 5));
    wild(0, 6) = wild(1, 3) = 3;
    const Times times(wild);
    for (int i = 0; i < 2; ++i)
      for (int q = 1; q <= 7; ++q) {
        int best = q;
        for (int other = q; other >= 1; --other)
          if (wild(i, other - 1) < wild(i, best - 1)) best = other;
        EXPECT_EQ(times(i, q), wild(i, best - 1));
        EXPECT_EQ(q < times.fewest(i), times(i, q) == kInfinity);
        if (q >= times.fewest(i)) {
          EXPECT_EQ(times.used(i, q), best);
        }
      }
  }
}

// Work that does not fall, up to rounding.
void expect_monotone(const Table& good) {
  for (std::ptrdiff_t i = 0; i < good.rows(); ++i)
    for (std::ptrdiff_t column = 1; column < good.cols(); ++column) {
      const auto q = static_cast<double>(column);
      EXPECT_LE(good(i, column), good(i, column - 1));
      if (good(i, column - 1) < kInfinity) {
        EXPECT_GE((q + 1) * good(i, column), q * good(i, column - 1) * (1 - 1e-12));
      }
    }
}

TEST(Times, MonotoneRepairsAnyTableAndKeepsAGoodOne) {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    Table wild(3, 12);
    for (std::ptrdiff_t k = 0; k < wild.size(); ++k) wild.data()[k] = 0.01 + rng.uniform();
    const Table good = monotone(wild);
    expect_monotone(good);
    const Table repaired_twice = monotone(good);
    for (std::ptrdiff_t k = 0; k < good.size(); ++k)
      EXPECT_NEAR(repaired_twice.data()[k], good.data()[k], 1e-12 * good.data()[k]);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(good(i, 0), wild(i, 0));
  }
  // (1) first: the 5 becomes 3; then 3 on two processors is super-linear and becomes 4 = 8/2.
  EXPECT_EQ(monotone({{8, 3, 5}}), (Table{{8, 4, 3}}));
  const Table repaired_infinite = monotone(Table({{kInfinity, 6, kInfinity, 2}}));
  EXPECT_EQ(repaired_infinite, (Table{{kInfinity, 6, 6, 4.5}}));
}

}  // namespace
}  // namespace cosched
