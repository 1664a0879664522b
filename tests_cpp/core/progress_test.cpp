#include "cosched/core/progress.hpp"

#include <gtest/gtest.h>

#include "cosched/core/sharing.hpp"

namespace cosched {
namespace {

TEST(Progress, ALoopThatMovesGoesOn) {
  Progress progress("a loop");
  for (int k = 0; k < 3 * Progress::kPatience; ++k) progress.round(k, 0);
  for (int k = 0; k < 3 * Progress::kPatience; ++k) progress.round(1e9, k + 1);
}

TEST(Progress, ALoopThatStandsStillEnds) {
  Progress progress("a loop");
  for (int k = 0; k <= Progress::kPatience; ++k) progress.round(3, 7);
  EXPECT_THROW(progress.round(3, 7), SolverError);
  EXPECT_THROW(Progress("a loop").round(kInfinity, 0), SolverError);
  EXPECT_THROW(Progress("a loop").round(kInfinity - kInfinity, 0), SolverError);
}

TEST(Progress, TheMessageNamesTheLoop) {
  try {
    require_progress(false, "the decoder");
    FAIL();
  } catch (const SolverError& error) {
    EXPECT_STREQ(error.what(),
                 "the decoder: nothing runs that could end, and jobs wait that nothing starts");
  }
}

// What every decoder of tasks side by side waits for.
TEST(Progress, NobodyRunsSoNobodyEnds) {
  Running running(nullptr);
  EXPECT_THROW(running.finish(), SolverError);
  running.start({0, 1, 2.0}, 0);
  EXPECT_EQ(running.finish().size(), 1U);
  EXPECT_THROW(running.finish(), SolverError);
}

}  // namespace
}  // namespace cosched
