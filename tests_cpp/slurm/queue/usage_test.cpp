#include "cosched/slurm/queue/usage.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cosched/slurm/queue/priorities.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

Scenario with_accounts(double half_life) {
  std::vector<Job> jobs{plain_job(0, 1, 600), plain_job(0, 1, 600)};
  jobs[0].association = 3;
  jobs[1].association = 4;
  return Scenario(plain_machine(4), jobs,
                  to_settings({{"PriorityDecayHalfLife", half_life}, {"PriorityCalcPeriod", 60}}),
                  {}, {},
                  {root_account(), user_below(0), account_below(0), user_below(2), user_below(2)});
}

TEST(SlurmUsage, RunningJobsAreChargedPeriodByPeriodEndedOnesAtOnce) {
  const Scenario scenario = with_accounts(0);
  Usage usage(scenario, -60);
  usage.advance(0);
  EXPECT_EQ(usage.pass_count(), 2);  // at -60 and 0
  usage.start(0, 4, 10);
  usage.advance(59.9);
  EXPECT_EQ(usage.used_seconds()[3], 0);
  usage.advance(60);
  EXPECT_EQ(usage.last_pass_time(), 60);
  EXPECT_EQ(usage.used_seconds()[3], 4 * 50);
  EXPECT_EQ(usage.used_seconds()[0], 4 * 50);  // and the accounts above
  EXPECT_EQ(usage.used_seconds()[2], 4 * 50);
  EXPECT_EQ(usage.used_seconds()[4], 0);
  usage.end(0, 75);
  EXPECT_EQ(usage.used_seconds()[3], 4 * 65);
  usage.advance(180);
  EXPECT_EQ(usage.used_seconds()[3], 4 * 65);
}

TEST(SlurmUsage, FactorsAreThoseOfTheLastPass) {
  const Scenario scenario = with_accounts(0);
  Usage usage(scenario, 0);
  usage.start(0, 1, 0);
  usage.end(0, 30);
  EXPECT_EQ(usage.factor_of(0), 1);
  usage.advance(60);
  EXPECT_NEAR(usage.factor_of(0), 1.0 / 3, 1e-12);
  EXPECT_NEAR(usage.factor_of(1), 2.0 / 3, 1e-12);
}

TEST(SlurmUsage, FactorsThatAreGivenHoldUntilThePassAfterTheirs) {
  std::vector<Job> jobs{plain_job(0, 1, 600)};
  jobs[0].association = 1;
  const Scenario scenario(
      plain_machine(4), jobs, to_settings({{"PriorityCalcPeriod", 60}}), {}, {},
      {{.parent = -1, .initial_usage = 50, .initial_factor = 0},
       {.parent = 0, .is_user = true, .initial_usage = 50, .initial_factor = 0.25},
       {.parent = 0, .is_user = true, .initial_factor = 1}});
  Usage usage(scenario, -10);
  EXPECT_EQ(usage.factor_of(0), 0.25);
  usage.advance(49);
  EXPECT_EQ(usage.factor_of(0), 0.25);
  EXPECT_EQ(usage.pass_count(), 1);
  usage.advance(50);
  EXPECT_EQ(usage.factor_of(0), 0.5);  // the second of two
}

TEST(SlurmUsage, ItDecaysByTheFirstTermOfAHalfLife) {
  const Scenario scenario = with_accounts(600);
  Usage usage(scenario, 0);
  usage.advance(0);
  usage.start(0, 1, 0);
  usage.advance(60);
  const double keep = 1 - 0.693 / 600;
  EXPECT_NEAR(usage.used_seconds()[3], 60 * std::pow(keep, 60), 1e-9);
  usage.end(0, 60);
  usage.advance(120);
  EXPECT_NEAR(usage.used_seconds()[3], 60 * std::pow(keep, 120), 1e-9);
}

}  // namespace
}  // namespace cosched::slurm
