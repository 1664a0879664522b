#include "cosched/slurm/select/node_fit.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/free_resources.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Two nodes of 8 cores, 1000 MB; a GPU of type 0 on node 0, two of type 1 on each.
Machine with_all() {
  Machine machine = shared_machine({8, 8});
  machine.node_memory = {1000, 1000};
  machine.node_gpus = {{1, 0}, {2, 2}};
  return machine;
}

NodeFit on_first(const Job& job, const FreeResources& free) {
  return fit_on_node(with_all(), job, 0, free);
}
NodeFit on_empty(const Job& job) { return on_first(job, FreeResources(with_all())); }

TEST(SlurmFit, FreeCores) {
  FreeResources free(with_all());
  free.allocate({{{0, 3, 0}}, {}});
  EXPECT_EQ(on_first(shared_job(1), free).cores, 5);
  EXPECT_EQ(fit_on_node(with_all(), shared_job(1), 1, free).cores, 8);
  free.release(Shares{{{0, 3, 0}}, {}});
  EXPECT_EQ(on_first(shared_job(1), free).cores, 8);
}

TEST(SlurmFit, OneNodeMustHoldAllTasks) {
  Job job = shared_job(6);
  FreeResources free(with_all());
  free.allocate({{{0, 3, 0}}, {}});
  EXPECT_EQ(on_first(job, free).cores, 5);  // of several nodes any core counts
  job.request.max_nodes = 1;
  EXPECT_EQ(on_first(job, free).cores, 0);
  job.request.tasks = 5;
  EXPECT_EQ(on_first(job, free).cores, 5);
}

TEST(SlurmFit, WholeTasksOnly) {
  Job job = shared_job(6);
  job.request.task_cores = 3;
  EXPECT_EQ(on_empty(job).cores, 6);
  job.request.task_cores = 9;
  EXPECT_EQ(on_empty(job).cores, 0);
}

TEST(SlurmFit, MemoryOfANode) {
  Job job = shared_job(2);
  job.request.memory = 600;
  EXPECT_EQ(on_empty(job).cores, 8);
  FreeResources free(with_all());
  free.allocate({{{0, 1, 400}}, {}});
  EXPECT_EQ(on_first(job, free).cores, 7);
  free.allocate({{{0, 1, 1}}, {}});
  EXPECT_EQ(on_first(job, free).cores, 0);
  EXPECT_EQ(allocated_memory(with_all(), job.request, 0, 2), 600);
}

TEST(SlurmFit, MemoryOfACoreLeavesFewerCores) {
  Job job = shared_job(2);
  job.request.memory = 300;
  job.request.is_memory_by_core = true;
  EXPECT_EQ(on_empty(job).cores, 3);
  EXPECT_EQ(allocated_memory(with_all(), job.request, 0, 2), 600);
  job.request.is_exclusive = true;  // all cores of the node: 2400 MB
  EXPECT_EQ(on_empty(job).cores, 0);
  job.request.memory = 125;
  EXPECT_EQ(on_empty(job).cores, 8);
}

TEST(SlurmFit, OneNodeMustHaveTheMemoryOfAllTasks) {
  Job job = shared_job(6);
  job.request.memory = 200;
  job.request.is_memory_by_core = true;
  EXPECT_EQ(on_empty(job).cores, 5);
  job.request.max_nodes = 1;
  EXPECT_EQ(on_empty(job).cores, 0);
  job.request.memory = 160;
  EXPECT_EQ(on_empty(job).cores, 6);
}

TEST(SlurmFit, AllMemoryOfANodeIsWhereNobodyHasAny) {
  Job job = shared_job(2);
  job.request.wants_all_memory = true;
  EXPECT_EQ(on_empty(job).cores, 8);
  EXPECT_EQ(allocated_memory(with_all(), job.request, 0, 2), 1000);
  FreeResources free(with_all());
  free.allocate({{{0, 1, 1}}, {}});
  EXPECT_EQ(on_first(job, free).cores, 0);
}

TEST(SlurmFit, AnExclusiveJobNeedsANodeWithoutJobs) {
  Job job = shared_job(2);
  job.request.is_exclusive = true;
  FreeResources free(with_all());
  EXPECT_EQ(on_first(job, free).cores, 8);
  free.allocate({{{0, 1, 0}}, {}});
  EXPECT_EQ(on_first(job, free).cores, 0);
}

TEST(SlurmFit, GpusOfItsTypeOnEachNodeOrInAll) {
  Job job = shared_job(2);
  job.request.gpus = 3;
  EXPECT_EQ(on_empty(job).gpus, 3);  // any type
  job.request.are_gpus_by_node = true;
  EXPECT_GT(on_empty(job).cores, 0);
  EXPECT_EQ(fit_on_node(with_all(), job, 1, FreeResources(with_all())).cores, 0);
  job.request.gpu_type = 1;
  EXPECT_EQ(on_empty(job).cores, 0);
  job.request.are_gpus_by_node = false;
  EXPECT_EQ(on_empty(job).gpus, 2);
  FreeResources free(with_all());
  free.allocate({{{0, 1, 0}}, {{0, 1, 2}}});
  EXPECT_EQ(on_first(job, free).cores, 0);
}

TEST(SlurmFit, AJobWithGpusHasTheCoresOfTheTasksOfANode) {
  Job job = shared_job(4);
  job.request.gpus = 1;
  EXPECT_EQ(on_empty(job).cores, 8);  // tasks may be anywhere
  job.request.max_nodes = 1;
  EXPECT_EQ(on_empty(job).cores, 4);
  job.nodes = job.request.max_nodes = 4;  // one on each
  EXPECT_EQ(on_empty(job).cores, 1);
  job.request = {};
  job.request.gpus = job.request.tasks = 1;
  EXPECT_EQ(on_empty(job).cores, 1);
  job.request.tasks = 0;  // not said: one
  job.request.max_nodes = 1;
  EXPECT_EQ(on_empty(job).cores, 1);
}

}  // namespace
}  // namespace cosched::slurm
