#include "cosched/cluster/slurm/group_counts.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster::slurm {
namespace {

TEST(GroupCounts, AJobMustFitBesideTheOthers) {
  Machine machine;
  machine.nodes = machine.cpus = 4;
  NodeBits all(4);
  all.add_range(0, 4);
  machine.lines = {all};
  machine.parts = {{all, 1, kNever, 1}};
  machine.groups = {{kInfinity, 3, kInfinity}};
  Job job;
  job.nodes = 2;
  job.groups = {0};
  const Scenario scenario(machine, {job, job}, to_settings({}));
  GroupCounts counts(scenario);
  EXPECT_TRUE(counts.allow(1));
  counts.count(0, 1);
  EXPECT_FALSE(counts.allow(1));  // 2 + 2 of 3 nodes
  counts.count(0, -1);
  EXPECT_TRUE(counts.allow(1));
}

}  // namespace
}  // namespace cosched::cluster::slurm
