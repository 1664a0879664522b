#include "cosched/slurm/limits/licences.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmLicences, AreFreeUntilAJobHasThemAndAgainAfterIt) {
  Machine machine = plain_machine(1);
  machine.licences = {3, 1};
  Job two_of_first = plain_job(0, 1, 60);
  two_of_first.conditions.licences = {{0, 2}};
  Job both = plain_job(0, 1, 60);
  both.conditions.licences = {{0, 1}, {1, 1}};
  const Scenario scenario = scenario_of(machine, {two_of_first, both, two_of_first});
  Licences licences(scenario);
  licences.allocate(0);
  EXPECT_TRUE(licences.are_available(1));
  EXPECT_FALSE(licences.are_available(2));
  licences.allocate(1);
  EXPECT_FALSE(licences.are_available(1));
  licences.release(0);
  EXPECT_TRUE(licences.are_available(2));
  EXPECT_FALSE(licences.are_available(1));  // the only second licence is in use
}

TEST(SlurmLicences, AMachineWithoutLicencesHasEnough) {
  const Scenario scenario = scenario_of(plain_machine(1), {plain_job(0, 1, 60)});
  EXPECT_TRUE(Licences(scenario).are_available(0));
}

}  // namespace
}  // namespace cosched::slurm
