#include "cosched/slurm/queue/accrual_limits.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Root, an account, two users of it; two QOS.  Who may accrue age is asked of any jobs.
struct AccrualSite {
  Qos qos = {};
  Limits account = {};
  Limits first_user = {};
  bool is_24_11 = false;

  Scenario scenario(const std::vector<Job>& jobs) const {
    Machine machine = plain_machine(4);
    machine.qos = {qos, Qos()};
    return Scenario(
        machine, jobs, to_settings({{"since_24", is_24_11}}), {}, {},
        {root_account(), account_below(0, account), user_below(1, first_user), user_below(1)});
  }
};

Job job_of_user(int user, int qos = -1) {
  Job job = plain_job(0, 1, 60);
  job.user = user;
  job.association = 2 + user;
  job.qos = qos;
  return job;
}

Qos qos_with(int group, int account, int user) {
  Qos qos;
  qos.max_accruing_group = group;
  qos.max_accruing_account = account;
  qos.max_accruing_user = user;
  return qos;
}

// GrpJobsAccrue and MaxJobsAccrue of an association; -1: no limit.
Limits limits_with(int group, int each) {
  Limits limits;
  limits.max_accruing_group = group;
  limits.max_accruing = each;
  return limits;
}

bool nobody_accrues(int) { return false; }

TEST(SlurmAccrualLimits, AreSetWhereAQosOrAnAssociationHasOne) {
  const std::vector<Job> jobs{job_of_user(0)};
  const auto are_set = [&](const AccrualSite& site) {
    const Scenario scenario = site.scenario(jobs);
    return AccrualLimits(scenario).are_set();
  };
  EXPECT_FALSE(are_set({}));
  EXPECT_TRUE(are_set({.qos = qos_with(5, -1, -1)}));
  EXPECT_TRUE(are_set({.qos = qos_with(-1, 5, -1)}));
  EXPECT_TRUE(are_set({.qos = qos_with(-1, -1, 0)}));
  EXPECT_TRUE(are_set({.account = limits_with(5, -1)}));
  EXPECT_TRUE(are_set({.first_user = limits_with(-1, 5)}));
}

TEST(SlurmAccrualLimits, JobsAreTakenByTheirNumbersEachOnce) {
  const Scenario scenario =
      AccrualSite{.qos = qos_with(2, -1, -1)}.scenario(std::vector<Job>(4, job_of_user(0, 0)));
  const AccrualLimits limits(scenario);
  EXPECT_EQ(limits.choose_next_jobs({3, 1, 3, 2, 1}, nobody_accrues), (Nodes{1, 2}));
}

TEST(SlurmAccrualLimits, JobsThatAccrueAlreadyCountAndAreNotChosenAgain) {
  const Scenario scenario =
      AccrualSite{.qos = qos_with(2, -1, -1)}.scenario(std::vector<Job>(4, job_of_user(0, 0)));
  const AccrualLimits limits(scenario);
  const auto last_accrues = [](int job) { return job == 3; };
  EXPECT_EQ(limits.choose_next_jobs({0, 1, 2, 3}, last_accrues), Nodes{0});
  const auto all_but_first = [](int job) { return job > 0; };
  EXPECT_EQ(limits.choose_next_jobs({0, 1, 2, 3}, all_but_first), Nodes{});
}

TEST(SlurmAccrualLimits, ALimitOfTheUserCountsEachUserAlone) {
  std::vector<Job> jobs;
  for (const int user : {0, 0, 1, 1, 0}) jobs.push_back(job_of_user(user, 0));
  const Scenario scenario = AccrualSite{.qos = qos_with(-1, -1, 1)}.scenario(jobs);
  EXPECT_EQ(AccrualLimits(scenario).choose_next_jobs({0, 1, 2, 3, 4}, nobody_accrues),
            (Nodes{0, 2}));
}

TEST(SlurmAccrualLimits, ALimitOfTheAccountCountsItsUsersTogether) {
  std::vector<Job> jobs;
  for (const int user : {0, 1, 0, 1}) jobs.push_back(job_of_user(user, 0));
  const Scenario scenario = AccrualSite{.qos = qos_with(-1, 3, -1)}.scenario(jobs);
  EXPECT_EQ(AccrualLimits(scenario).choose_next_jobs({0, 1, 2, 3}, nobody_accrues),
            (Nodes{0, 1, 2}));
}

TEST(SlurmAccrualLimits, JobsOfAQosWithoutALimitHaveThatOfTheirAssociation) {
  std::vector<Job> jobs;
  for (const int qos : {0, 1, 1}) jobs.push_back(job_of_user(0, qos));
  const AccrualSite site{.qos = qos_with(0, -1, -1), .first_user = limits_with(1, -1)};
  EXPECT_EQ(AccrualLimits(site.scenario(jobs)).choose_next_jobs({0, 1, 2}, nobody_accrues),
            Nodes{1});
}

// GrpJobsAccrue of 3 in the QOS and MaxJobsAccruePU of 1: the first holds alone, until 24.11 takes
// the least.
TEST(SlurmAccrualLimits, OfTwoLimitsTheFirstHoldsAndSince24TheLeast) {
  AccrualSite site{.qos = qos_with(3, -1, 1)};
  const std::vector<Job> jobs(4, job_of_user(0, 0));
  EXPECT_EQ(AccrualLimits(site.scenario(jobs)).choose_next_jobs({0, 1, 2, 3}, nobody_accrues),
            (Nodes{0, 1, 2}));
  site.is_24_11 = true;
  EXPECT_EQ(AccrualLimits(site.scenario(jobs)).choose_next_jobs({0, 1, 2, 3}, nobody_accrues),
            Nodes{0});
}

}  // namespace
}  // namespace cosched::slurm
