#include "cosched/cluster/dfrs/dfrs_machine.hpp"

#include <gtest/gtest.h>

#include "cosched/cluster/dfrs/simulated_machine.hpp"
#include "support/cluster_instances.hpp"

namespace cosched::cluster::dfrs {
namespace {

TEST(DfrsMachine, PriorityIsInfiniteWithoutVirtualTime) {
  const Instance instance = testing::one_node_jobs({{0, 9}}, 3);
  EXPECT_EQ(DfrsMachine(instance).priority(0), kInfinity);
}

TEST(DfrsMachine, PriorityIsFlowTimeOverVirtualTimeSquared) {
  const Instance instance = testing::one_node_jobs({{0, 9}}, 3);
  SimulatedMachine machine(instance);
  machine.submit(0);
  machine.start(0, {1}, Reason::policy);
  machine.set_yield(0, 0.5);
  EXPECT_TRUE(machine.advance(4));
  EXPECT_EQ(machine.job(0).virtual_time, 2);
  EXPECT_EQ(machine.priority(0), 4.0 / (2 * 2));
}

TEST(DfrsMachine, AJobMakesNoProgressDuringAPenalty) {
  const Instance instance = testing::one_node_jobs({{0, 9}}, 3);
  SimulatedMachine machine(instance);
  machine.submit(0);
  machine.start(0, {1}, Reason::policy);
  machine.set_yield(0, 1);
  machine.set_penalty(0, 3);
  EXPECT_FALSE(machine.advance(2));
  EXPECT_TRUE(machine.advance(5));
  EXPECT_EQ(machine.job(0).virtual_time, 2);
}

TEST(DfrsMachine, ChangesOfAJobAreReportedOnceWithItsStateBefore) {
  const Instance instance = testing::one_node_jobs({{0, 9}}, 3);
  SimulatedMachine machine(instance);
  machine.submit(0);
  machine.start(0, {1}, Reason::policy);
  machine.move(0, {2}, Reason::packed);
  const std::vector<DfrsMachine::Change>& changes = machine.take_changes();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].previous_status, JobStatus::waiting);
  EXPECT_TRUE(changes[0].previous_nodes.empty());
  EXPECT_EQ(changes[0].reason, Reason::packed);
  EXPECT_TRUE(machine.take_changes().empty());
}

}  // namespace
}  // namespace cosched::cluster::dfrs
