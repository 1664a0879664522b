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

TEST(Deadline, NeverAndPassed) {
  EXPECT_FALSE(Deadline().passed());
  EXPECT_EQ(Deadline().remaining(), kInfinity);
  EXPECT_TRUE(Deadline(0.0).passed());
  EXPECT_FALSE(Deadline(1e300).passed());
  EXPECT_THROW(Deadline(-1.0), InvalidInstance);
  EXPECT_THROW(Deadline(std::nan("")), InvalidInstance);
}

TEST(Interrupt, TimeLimitHoldsInItsThreadAndScopeOnly) {
  {
    ScopedTimeLimit limit(0);
    EXPECT_THROW(check_interrupt(), TimeLimit);
    std::thread([] { EXPECT_NO_THROW(check_interrupt()); }).join();
    {
      ScopedTimeLimit inner(1000);
      EXPECT_NO_THROW(check_interrupt());
    }
    EXPECT_THROW(check_interrupt(), TimeLimit);
  }
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
