#include "cosched/core/interrupt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <thread>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {
namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(TimeLimit, HoldsInItsThreadAndScopeOnly) {
  {
    const ScopedTimeLimit limit(0);
    EXPECT_THROW(check_interrupt(), TimeLimit);
    std::thread([] { EXPECT_NO_THROW(check_interrupt()); }).join();
  }
  EXPECT_NO_THROW(check_interrupt());
  EXPECT_EQ(seconds_left(), kInfinity);
}

TEST(TimeLimit, TheEarliestOfNestedLimitsHolds) {
  const ScopedTimeLimit outer(1000);
  {
    const ScopedTimeLimit longer(2000), none(std::nullopt), never(kInfinity);
    EXPECT_LE(seconds_left(), 1000);
    EXPECT_NO_THROW(check_interrupt());
    const ScopedTimeLimit shorter(0);
    const ScopedTimeLimit longer_again(1e300);
    EXPECT_THROW(check_interrupt(), TimeLimit);
  }
  EXPECT_GT(seconds_left(), 0);
  EXPECT_NO_THROW(check_interrupt());
}

TEST(TimeLimit, RefusesWhatIsNoNumberOfSeconds) {
  EXPECT_THROW(ScopedTimeLimit(-1.0), InvalidInstance);
  EXPECT_THROW(ScopedTimeLimit(std::nan("")), InvalidInstance);
  EXPECT_EQ(seconds_left(), kInfinity);
}

TEST(TimeLimit, AnExtensionPostponesItWhileItIsAlive) {
  const ScopedTimeLimit limit(0);
  {
    const ScopedDeadlineExtension extension;
    EXPECT_NO_THROW(check_interrupt());
    EXPECT_EQ(seconds_left(), kInfinity);
    const ScopedTimeLimit inner(0);
    EXPECT_THROW(check_interrupt(), TimeLimit);
  }
  EXPECT_THROW(check_interrupt(), TimeLimit);
  {
    const ScopedDeadlineExtension extension(1000);
    EXPECT_GT(seconds_left(), 0);
    EXPECT_LE(seconds_left(), 1000);
  }
  EXPECT_THROW(check_interrupt(), TimeLimit);
}

TEST(TimeLimit, AnExtensionBringsNoLimitNearer) {
  const ScopedTimeLimit limit(1000);
  const ScopedDeadlineExtension extension(1);
  EXPECT_GT(seconds_left(), 900);
}

TEST(TimeLimit, FinishesWithinKeepsWhatWasStored) {
  int done = 0;
  const auto count = [&] {
    for (;; check_interrupt()) ++done;
  };
  EXPECT_FALSE(finishes_within(0, count));
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(finishes_within(0, [&] { done = 5; }));
  EXPECT_EQ(done, 5);
  const ScopedTimeLimit around(0);
  EXPECT_FALSE(finishes_within(std::nullopt, count));
}

TEST(Stop, EndsWhatRunsAndWhatIsBegunUntilForgotten) {
  bool stored = false;
  EXPECT_FALSE(finishes_within(std::nullopt, [&] {
    {
      const ScopedTimeLimit nested(60.0);  // its end brings no earlier limit back
      request_stop();
    }
    stored = true;
    check_interrupt();
  }));
  EXPECT_TRUE(stored);
  EXPECT_LE(seconds_left(), 0);
  EXPECT_THROW(check_interrupt(), TimeLimit);
  EXPECT_NO_THROW(without_deadline([] { check_interrupt(); }));
  EXPECT_NO_THROW({
    const ScopedDeadlineExtension grace(60.0);
    const ScopedDeadlineExtension none_shorter(0.0);
    check_interrupt();
  });
  EXPECT_THROW(std::thread([] { EXPECT_THROW(check_interrupt(), TimeLimit); }).join();
               check_interrupt(), TimeLimit);
  forget_stop();
  EXPECT_NO_THROW(check_interrupt());
}

TEST(Interrupt, HookMayEndTheWork) {
  set_interrupt_hook([] { throw std::runtime_error("stop"); });
  sleep_ms(60);  // the hook is called at most every 50 ms
  EXPECT_THROW(check_interrupt(), std::runtime_error);
  EXPECT_NO_THROW(check_interrupt());
  set_interrupt_hook(nullptr);
  sleep_ms(60);
  EXPECT_NO_THROW(check_interrupt());
}

}  // namespace
}  // namespace cosched
