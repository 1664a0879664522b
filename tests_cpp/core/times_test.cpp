#include "cosched/core/times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"

namespace cosched {
namespace {

Table table(std::initializer_list<std::initializer_list<double>> rows) {
  Table result(rows.size(), rows.begin()->size());
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index j = 0;
    for (const double value : row) result(i, j++) = value;
    ++i;
  }
  return result;
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidInstance& error) {
    return error.what();
  }
  return "";
}

TEST(Times, AccessorsCountProcessorsFromOne) {
  const Times times(table({{8, 5, 4}, {2, 1, 1}}));
  EXPECT_EQ(times.tasks(), 2);
  EXPECT_EQ(times.procs(), 3);
  EXPECT_EQ(times(0, 1), 8);
  EXPECT_EQ(times(1, 3), 1);
  EXPECT_EQ(times.work(0, 3), 12);
  EXPECT_EQ(times.row(1)[0], 2);
}

TEST(Times, RefusesBadEntriesByPlaceAndValue) {
  for (const double bad : {0.0, -1.5, std::nan(""), kInfinity, -kInfinity}) {
    const auto text = message([&] { Times(table({{3, 2}, {1, bad}})); });
    EXPECT_NE(text.find("times[1, 1]"), std::string::npos) << text;
    EXPECT_NE(text.find(to_text(bad)), std::string::npos) << text;
  }
  EXPECT_NE(message([] { Times(Table(0, 3)); }).find("(0, 3)"), std::string::npos);
  EXPECT_NE(message([] { Times(Table(3, 0)); }).find("(3, 0)"), std::string::npos);
}

TEST(Times, MonotoneNamesTheFirstBreach) {
  const Times rising(table({{3, 2, 2}, {3, 2, 2.5}}));
  const auto text = message([&] { require_monotone(rising, Monotone::times); });
  EXPECT_NE(text.find("times[1, 2] = 2.5"), std::string::npos) << text;

  const Times super_linear(table({{3, 1.4}}));
  EXPECT_NO_THROW(require_monotone(super_linear, Monotone::times));
  const auto work = message([&] { require_monotone(super_linear, Monotone::times_and_work); });
  EXPECT_NE(work.find("times[0, 1] = 1.4"), std::string::npos) << work;
}

TEST(Times, LinearSpeedUpIsMonotone) {
  Table linear(1, 1000);
  for (int q = 1; q <= 1000; ++q) linear(0, q - 1) = 0.1 / q;
  EXPECT_NO_THROW(require_monotone(Times(linear), Monotone::times_and_work));
}

TEST(Times, MonotoneRepairsAnyTableAndKeepsAGoodOne) {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    Table wild(3, 12);
    for (Eigen::Index k = 0; k < wild.size(); ++k) wild.data()[k] = 0.01 + rng.uniform();
    const Table good = monotone(wild);
    EXPECT_NO_THROW(require_monotone(Times(good), Monotone::times_and_work));
    EXPECT_TRUE((monotone(good) <= good * (1 + 1e-12)).all());
    EXPECT_TRUE((monotone(good) >= good * (1 - 1e-12)).all());
    EXPECT_TRUE((good.col(0) == wild.col(0)).all());
  }
  // (1) first: the 5 becomes 3; then 3 on two processors is super-linear and becomes 4 = 8/2.
  EXPECT_TRUE((monotone(table({{8, 3, 5}})) == table({{8, 4, 3}})).all());
}

}  // namespace
}  // namespace cosched
