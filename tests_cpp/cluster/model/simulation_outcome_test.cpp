#include "cosched/cluster/model/simulation_outcome.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster {
namespace {

TEST(SimulationOutcome, UnderutilisationIsDemandThatRanNowherePerWork) {
  Jobs jobs;
  jobs.submit = {0, 0};
  jobs.tasks = {2, 1};
  jobs.cpu = {0.5, 1};
  jobs.memory = {0.1, 0.1};
  jobs.runtime = {10, 10};
  const Instance instance(jobs, 2);
  EXPECT_EQ(instance.total_work(), 20);  // 10 s x 0.5 x 2 tasks, and 10 s x 1
  SimulationOutcome outcome(2);
  outcome.demand_area = 30;
  EXPECT_EQ(underutilisation(instance, outcome), 0.5);
  outcome.demand_area = 20;
  EXPECT_EQ(underutilisation(instance, outcome), 0);
}

}  // namespace
}  // namespace cosched::cluster
