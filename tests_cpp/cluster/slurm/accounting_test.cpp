#include "cosched/cluster/slurm/accounting.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cosched/cluster/slurm/settings.hpp"

namespace cosched::cluster::slurm {
namespace {

// root: account a (ann with 3 shares, eve with 1), account b (bob).
Accounts two_accounts(double ann, double eve, double bob) {
  Accounts accounts;
  accounts.tree = {{-1, 1, false, false, ann + eve + bob, 0},
                   {0, 1, false, false, ann + eve, 0},
                   {1, 3, true, false, ann, 0},
                   {1, 1, true, false, eve, 0},
                   {0, 1, false, false, bob, 0},
                   {4, 1, true, false, bob, 0}};
  accounts.weight = 1000;
  accounts.half_life = 6930;
  return accounts;
}

Scenario scenario_of(Accounts accounts, double billing = 2) {
  Machine machine;
  machine.nodes = 4;
  machine.cpus = 4;
  NodeBits all(4);
  all.add_range(0, 4);
  machine.lines = {all};
  machine.parts = {{all, 1, kNever, 1}};
  Job job;
  job.association = 2;
  job.billing = billing;
  job.nodes = 2;
  job.limit = 3600;
  job.groups = accounts.groups.empty() ? std::vector<int>{} : std::vector<int>{0};
  Job other = job;
  other.association = 5;
  return Scenario(machine, {job, other}, to_settings({{"PriorityCalcPeriod", 100}}), {}, {},
                  std::move(accounts));
}

TEST(FairShare, RanksUsersOfTheLeastUsedAccountFirst) {
  const Scenario scenario = scenario_of(two_accounts(300, 50, 100));
  FairShare shares(scenario);
  EXPECT_EQ(shares.due(), 100);
  shares.pass(Allocations(scenario));
  // b before a; in a: eve (0.25 of the shares, 1/7 of the usage) before ann (0.75, 6/7).
  EXPECT_DOUBLE_EQ(shares.tree()[5].factor, 1);
  EXPECT_DOUBLE_EQ(shares.tree()[3].factor, 2.0 / 3);
  EXPECT_DOUBLE_EQ(shares.tree()[2].factor, 1.0 / 3);
  EXPECT_DOUBLE_EQ(shares.part(1), 1000);
}

TEST(FairShare, EqualsShareARankAndAnAccountHandsItsTieOn) {
  const Scenario scenario = scenario_of(two_accounts(0, 0, 0));
  FairShare shares(scenario);
  shares.pass(Allocations(scenario));
  for (const int user : {2, 3, 5}) EXPECT_DOUBLE_EQ(shares.tree()[std::size_t(user)].factor, 1);
}

TEST(FairShare, UsageDecaysAndRunningJobsAreCharged) {
  const Scenario scenario = scenario_of(two_accounts(300, 50, 100));
  FairShare shares(scenario);
  Allocations allocations(scenario);
  Choice choice(4);
  choice.nodes.add_range(0, 2);
  allocations.start(0, choice, 40);
  shares.pass(allocations);
  const double kept = 1 - 0.693 / 6930;
  const double used = 60 * 2 * std::pow(kept, 60);
  EXPECT_NEAR(shares.tree()[2].usage, 300 * std::pow(kept, 100) + used, 1e-9);
  EXPECT_NEAR(shares.tree()[0].usage, 450 * std::pow(kept, 100) + used, 1e-9);
  shares.end(0, 40, 130);  // from the pass on alone
  EXPECT_NEAR(shares.tree()[2].usage,
              300 * std::pow(kept, 100) + used + 30 * 2 * std::pow(kept, 30), 1e-9);
}

TEST(GroupCounts, AJobMustFitBesideTheOthers) {
  Accounts accounts = two_accounts(0, 0, 0);
  accounts.groups = {{kInfinity, 3, kInfinity}};
  const Scenario scenario = scenario_of(std::move(accounts));
  GroupCounts counts(scenario);
  EXPECT_TRUE(counts.allow(1));
  counts.count(0, 1);
  EXPECT_FALSE(counts.allow(1));  // 2 + 2 of 3 nodes
  counts.count(0, -1);
  EXPECT_TRUE(counts.allow(1));
}

}  // namespace
}  // namespace cosched::cluster::slurm
