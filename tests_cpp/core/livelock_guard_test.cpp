#include "cosched/core/livelock_guard.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {
namespace {

TEST(LivelockGuard, ALoopWithProgressGoesOn) {
  LivelockGuard guard("a loop");
  for (int k = 0; k < 3 * LivelockGuard::kMaxIdleRounds; ++k) guard.check_round(k, 0);
  for (int k = 0; k < 3 * LivelockGuard::kMaxIdleRounds; ++k) guard.check_round(1e9, k + 1);
}

TEST(LivelockGuard, ALoopWithoutProgressEnds) {
  LivelockGuard guard("a loop");
  for (int k = 0; k <= LivelockGuard::kMaxIdleRounds; ++k) guard.check_round(3, 7);
  EXPECT_THROW(guard.check_round(3, 7), SolverError);
  EXPECT_THROW(LivelockGuard("a loop").check_round(kInfinity, 0), SolverError);
  EXPECT_THROW(LivelockGuard("a loop").check_round(kInfinity - kInfinity, 0), SolverError);
}

}  // namespace
}  // namespace cosched
