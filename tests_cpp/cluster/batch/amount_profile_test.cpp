#include "cosched/cluster/batch/amount_profile.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster::batch {
namespace {

constexpr ResourceAmounts kOneCore{.memory = 0, .cores = 1, .gpus = 0};
constexpr ResourceAmounts kTwoCores{.memory = 0, .cores = 2, .gpus = 0};

std::vector<double> step_times(const AmountProfile& profile) {
  std::vector<double> times;
  for (const AmountStep& step : profile.steps()) times.push_back(step.time);
  return times;
}

TEST(AmountProfile, StepsThatHaveBecomeEqualAreMerged) {
  AmountProfile profile(0, kTwoCores);
  profile.add(5, 10, -kOneCore);
  EXPECT_EQ(step_times(profile), (std::vector<double>{0, 5, 10}));
  EXPECT_EQ(profile.minimum_between(0, 6), kOneCore);
  profile.add(10, 15, -kOneCore);
  EXPECT_EQ(step_times(profile), (std::vector<double>{0, 5, 15}));
  profile.add(5, 15, kOneCore);
  EXPECT_EQ(step_times(profile), std::vector<double>{0});
}

TEST(AmountProfile, EqualStepsAreKeptOnRequest) {
  AmountProfile profile(0, kTwoCores);
  profile.add(5, 10, ResourceAmounts{}, AmountProfile::EqualSteps::keep);
  EXPECT_EQ(step_times(profile), (std::vector<double>{0, 5, 10}));
}

TEST(AmountProfile, TheEarliestStartIsWhereTheAmountsStayFree) {
  AmountProfile profile(0, kTwoCores);
  profile.add(3, 6, -kOneCore);
  EXPECT_EQ(profile.find_earliest_start(0, kTwoCores, 3, kInfinity), 0);
  EXPECT_EQ(profile.find_earliest_start(0, kTwoCores, 4, kInfinity), 6);
  EXPECT_EQ(profile.find_earliest_start(1, kTwoCores, 3, 5), 5);  // none before the limit
  EXPECT_EQ(profile.find_earliest_start(1, kOneCore, 100, kInfinity), 1);
}

TEST(AmountProfile, ForgetsWhatIsPast) {
  AmountProfile profile(0, kTwoCores);
  profile.add(3, 6, -kOneCore);
  profile.forget_before(4);
  EXPECT_EQ(step_times(profile), (std::vector<double>{3, 6}));
  EXPECT_TRUE(profile.is_free_before(7, kTwoCores));
  EXPECT_FALSE(profile.is_free_before(6, kTwoCores));
  EXPECT_FALSE(profile.is_free_before(3, kOneCore));  // nothing is known of the time before
}

}  // namespace
}  // namespace cosched::cluster::batch
