#include "cosched/slurm/accounts/decay.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cosched::slurm {
namespace {

Settings::Priority priority(Second period, Second half_life) {
  Settings::Priority priority;
  priority.calc_period = period;
  priority.half_life = half_life;
  return priority;
}

TEST(SlurmDecay, ItPassesOnceAPeriodFromItsStartOn) {
  Decay decay(priority(60, 600), -30.5);
  std::vector<Second> at, before;
  const auto pass = [&](Second now, double fraction) {
    at.push_back(now);
    before.push_back(decay.last_pass_time());
    EXPECT_EQ(fraction, decay.remaining_fraction(now - decay.last_pass_time()));
  };
  EXPECT_FALSE(decay.advance(-31, pass));
  EXPECT_TRUE(decay.advance(29.5, pass));
  EXPECT_FALSE(decay.advance(89.4, pass));
  EXPECT_TRUE(decay.advance(89.5, pass));
  EXPECT_EQ(at, (std::vector<Second>{-31, 29, 89}));
  EXPECT_EQ(before, (std::vector<Second>{-31, -31, 29}));
  EXPECT_EQ(decay.pass_count(), 3);
  EXPECT_EQ(decay.last_pass_time(), 89);
  EXPECT_EQ(decay.next_pass_time(), 149.5);
}

TEST(SlurmDecay, APassWhoseOutcomeIsKnownIsOver) {
  const Decay decay(priority(60, 600), -10, true);
  EXPECT_EQ(decay.pass_count(), 1);
  EXPECT_EQ(decay.last_pass_time(), -10);
  EXPECT_EQ(decay.next_pass_time(), 50);
}

TEST(SlurmDecay, TheFirstTermOfAHalfLifeASecond) {
  const Decay decay(priority(60, 600), 0);
  EXPECT_NEAR(decay.remaining_fraction(1), 1 - 0.693 / 600, 1e-15);
  EXPECT_NEAR(decay.remaining_fraction(2), (1 - 0.693 / 600) * (1 - 0.693 / 600), 1e-15);
  EXPECT_EQ(Decay(priority(60, 0), 0).remaining_fraction(1000), 1);  // none: it does not fade
}

}  // namespace
}  // namespace cosched::slurm
