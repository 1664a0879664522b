#include "cosched/core/progress.hpp"

#include <gtest/gtest.h>

#include "cosched/core/running_set.hpp"
#include "cosched/core/sharing.hpp"

namespace cosched {
namespace {

TEST(Progress, TheMessageNamesTheLoop) {
  try {
    require_progress(false, "the decoder");
    FAIL();
  } catch (const SolverError& error) {
    EXPECT_STREQ(error.what(),
                 "the decoder: nothing runs that could end, and jobs wait that nothing starts");
  }
}

// What decoders of tasks that run at the same time rely on.
TEST(Progress, WithoutARunningTaskNothingEnds) {
  RunningSet running(nullptr);
  EXPECT_THROW(running.finish(), SolverError);
  running.start({0, 1, 2.0}, 0);
  EXPECT_EQ(running.finish().size(), 1U);
  EXPECT_THROW(running.finish(), SolverError);
}

}  // namespace
}  // namespace cosched
