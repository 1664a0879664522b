#include "cosched/slurm/select/allocations.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/free_resources.hpp"
#include "cosched/slurm/select/node_choice.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

Nodes on_each(const Allocations& of, int FreeResources::Node::*member) {
  const FreeResources& free_resources = of.free_resources();
  Nodes counts;
  for (std::size_t node = 0; node < free_resources.node_count(); ++node)
    counts.push_back(free_resources.node(static_cast<int>(node)).*member);
  return counts;
}

TEST(SlurmAllocations, NodesAreBusyThenCleaningThenIdle) {
  const Scenario scenario = scenario_of(
      plain_machine(4), {plain_job(0, 2, 100), plain_job(0, 1, 30), plain_job(0, 1, 30)});
  Allocations of(scenario);
  EXPECT_EQ(of.up_nodes().count(), 4);
  of.start(0, choice_from(0, 2, 4), 5);
  of.start(2, choice_from(3, 4, 4), 6);
  of.start(1, choice_from(2, 3, 4), 6);
  EXPECT_EQ(of.expected_end(0), 105);
  EXPECT_EQ(of.running_jobs(), (Nodes{1, 2, 0}));  // by due, then number
  EXPECT_EQ(of.busy_nodes().to_list(), (Nodes{0, 1, 2, 3}));
  of.end(0, 40);
  EXPECT_EQ(of.running_jobs(), (Nodes{1, 2}));
  EXPECT_EQ(of.busy_nodes().to_list(), (Nodes{2, 3}));
  EXPECT_EQ(of.completing_nodes().to_list(), (Nodes{0, 1}));
  EXPECT_TRUE(of.has_ended(0));
  EXPECT_TRUE(of.has_completing_since(40));
  EXPECT_FALSE(of.has_completing_since(41));
  const auto changes = of.change_count();
  of.complete_epilog(0);
  EXPECT_FALSE(of.completing_nodes().any());
  EXPECT_FALSE(of.has_completing_since(0));
  EXPECT_GT(of.change_count(), changes);
}

// Tasks that wait are at the end of slurmctld's list from when the one before them started.
TEST(SlurmAllocations, OfEqualEndsTheFirstOnTheListOfJobsComesFirst) {
  std::vector<Job> jobs(5, plain_job(0, 1, 60));
  for (const std::size_t task : {0, 1, 2}) jobs[task].conditions.array = 7;
  const Scenario scenario = scenario_of(plain_machine(5), jobs);
  Allocations of(scenario);
  for (int job = 0; job < 4; ++job) of.add_to_list(job);
  of.start(0, choice_from(0, 1, 5), 5);
  of.add_to_list(4);
  for (int job = 1; job < 5; ++job) of.start(job, choice_from(job, job + 1, 5), 5);
  EXPECT_EQ(of.running_jobs(), (Nodes{0, 3, 1, 4, 2}));
}

TEST(SlurmAllocations, CoresOfSharedNodesAreTakenAndGivenBack) {
  const Scenario scenario = scenario_of(shared_machine({4, 4, 4}), {shared_job(6), shared_job(5)});
  Allocations of(scenario);
  of.start(0, shares_from({{0, 4}, {1, 2}}, 3), 0);
  EXPECT_EQ(on_each(of, &FreeResources::Node::cores), (Nodes{0, 2, 4}));
  EXPECT_EQ(on_each(of, &FreeResources::Node::jobs), (Nodes{1, 1, 0}));
  EXPECT_EQ(of.busy_nodes().to_list(), (Nodes{0}));
  of.start(1, shares_from({{1, 2}, {2, 3}}, 3), 0);
  EXPECT_EQ(of.busy_nodes().to_list(), (Nodes{0, 1}));
  of.end(0, 10);
  EXPECT_EQ(on_each(of, &FreeResources::Node::cores), (Nodes{4, 2, 1}));
  EXPECT_FALSE(of.busy_nodes().any());
}

TEST(SlurmAllocations, ANodeIsCleanWhenTheLastOfItsJobsIs) {
  const Scenario scenario = scenario_of(shared_machine({4}), {shared_job(1), shared_job(1)});
  Allocations of(scenario);
  for (const int job : {0, 1}) of.start(job, shares_from({{0, 1}}, 1), 0);
  for (const int job : {0, 1}) of.end(job, 10);
  EXPECT_FALSE(of.is_done(0));
  of.complete_epilog(0);
  EXPECT_TRUE(of.is_done(0));
  EXPECT_TRUE(of.completing_nodes().has(0));
  of.complete_epilog(1);
  EXPECT_FALSE(of.completing_nodes().any());
  of.mark_pending(1);
  EXPECT_FALSE(of.has_started(1));
}

TEST(SlurmAllocations, NodesGoDownAndComeBack) {
  const Scenario scenario = scenario_of(plain_machine(4), {plain_job(0, 2, 100)});
  Allocations of(scenario);
  of.set_nodes_up(nodes_from(1, 3, 4), false);
  EXPECT_EQ(of.up_nodes().to_list(), (Nodes{0, 3}));
  of.set_nodes_up(nodes_from(1, 2, 4), true);
  EXPECT_EQ(of.up_nodes().to_list(), (Nodes{0, 1, 3}));
}

TEST(SlurmAllocations, NodesThatAreDownFromTheBeginOn) {
  Machine machine = plain_machine(4);
  machine.down_nodes = nodes_from(1, 3, 4);
  const Scenario scenario = scenario_of(machine, {plain_job(0, 2, 100)});
  EXPECT_EQ(Allocations(scenario).up_nodes().to_list(), (Nodes{0, 3}));
}

TEST(SlurmAllocations, ALimitCountsWhatAJobHasRun) {
  const Scenario scenario =
      suspending(tiers_of({4}, {1}), {shared_job(1, 600), shared_job(1, 900)});
  Allocations of(scenario);
  NodeChoice choice = shares_from({{0, 1}}, 1);
  choice.cores = nodes_from(0, 1, 4);
  for (const int job : {0, 1}) of.start(job, choice, 10);
  EXPECT_EQ(of.running_jobs(), (Nodes{0, 1}));
  auto changes = of.change_count();
  of.suspend(0, 100);
  EXPECT_TRUE(of.is_suspended(0));
  EXPECT_GT(of.change_count(), changes);
  EXPECT_EQ(of.expected_end(0), 610);
  changes = of.change_count();
  of.resume(0, 500);
  EXPECT_FALSE(of.is_suspended(0));
  EXPECT_GT(of.change_count(), changes);
  EXPECT_EQ(of.expected_end(0), 500 + 510);
  EXPECT_EQ(of.running_jobs(), (Nodes{1, 0}));
  of.suspend(0, 510);
  of.resume(0, 600);
  EXPECT_EQ(of.expected_end(0), 600 + 500);
  EXPECT_EQ(of.start_second(0), 10);
  of.end(0, 700);
  of.complete_epilog(0);
  of.mark_pending(0);
  of.start(0, choice, 1000);
  EXPECT_EQ(of.expected_end(0), 1600);
  of.suspend(0, 1010);
  of.resume(0, 1020);
  EXPECT_EQ(of.expected_end(0), 1020 + 590);
}

TEST(SlurmAllocations, CoresOfTwoJobsCountOnce) {
  const Scenario scenario =
      suspending(tiers_of({4, 4}, {1, 2}), {shared_job(3), shared_job(2), shared_job(2)});
  Allocations of(scenario);
  NodeChoice low = shares_from({{0, 3}}, 2), high = shares_from({{0, 2}}, 2);
  low.cores = nodes_from(0, 3, 8);
  high.cores = nodes_from(1, 4, 8);
  high.partition = 1;
  of.start(0, low, 0);
  of.start(1, high, 0);
  EXPECT_EQ(on_each(of, &FreeResources::Node::cores), (Nodes{0, 4}));
  EXPECT_EQ(of.busy_nodes().to_list(), (Nodes{0}));
  of.end(0, 10);
  EXPECT_EQ(on_each(of, &FreeResources::Node::cores), (Nodes{1, 4}));
  EXPECT_EQ(of.core_map().cores_of(1).to_list(), (Nodes{1, 2, 3}));
  EXPECT_FALSE(of.core_map().cores_of(0).any());
}

TEST(SlurmAllocations, LiftedFromItsCoresAlone) {
  Machine machine = tiers_of({4}, {1});
  machine.node_memory = {100};
  machine.node_gpus = {{2}};
  const Scenario scenario = suspending(machine, {shared_job(3)});
  Allocations of(scenario);
  NodeChoice choice = shares_from({{0, 3}}, 1);
  choice.shares.nodes[0].memory = 70;
  choice.shares.gpus = {{0, 0, 1}};
  choice.cores = nodes_from(0, 3, 4);
  of.start(0, choice, 0);
  of.hide(0);
  EXPECT_EQ(on_each(of, &FreeResources::Node::cores), Nodes{4});
  EXPECT_EQ(on_each(of, &FreeResources::Node::jobs), Nodes{0});
  EXPECT_EQ(of.free_resources().node(0).memory, 30);
  EXPECT_EQ(of.free_resources().gpu_count(0, 0), 1);
  EXPECT_EQ(of.running_jobs(), Nodes{});
  of.unhide(0);
  EXPECT_EQ(on_each(of, &FreeResources::Node::cores), Nodes{1});
  EXPECT_EQ(on_each(of, &FreeResources::Node::jobs), Nodes{1});
  EXPECT_EQ(of.free_resources().node(0).memory, 30);
  EXPECT_EQ(of.free_resources().gpu_count(0, 0), 1);
  EXPECT_EQ(of.running_jobs(), Nodes{0});
}

}  // namespace
}  // namespace cosched::slurm
