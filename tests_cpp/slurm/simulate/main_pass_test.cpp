#include "cosched/slurm/simulate/main_pass.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/slurm/select/select.hpp"
#include "cosched/slurm/trace/trace_recorder.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// A pass at second 100 over jobs submitted at 0, 1, ...: those that it starts.
Nodes passed(const Machine& machine, const std::vector<Job>& jobs,
             const std::map<std::string, double>& parameters = {}, bool full = true) {
  const Scenario scenario = scenario_of(machine, jobs, parameters);
  ControllerState controller(scenario, -60, {});
  Select select(scenario, controller.allocations(), 0);
  for (int job = 0; job < static_cast<int>(jobs.size()); ++job) controller.submit(job, job);
  Nodes started = main_pass(controller, select, 100, full);
  EXPECT_EQ(started.size() + controller.queue().entries().size(), jobs.size());
  return started;
}

// Those that it starts, and those that wait still.
std::pair<Nodes, Nodes> passed_with_entries(const Machine& machine, const std::vector<Job>& jobs) {
  const Scenario scenario = scenario_of(machine, jobs, {{"cons_tres", 1}});
  ControllerState controller(scenario, -60, {});
  Select select(scenario, controller.allocations(), 0);
  for (int job = 0; job < static_cast<int>(jobs.size()); ++job) controller.submit(job, job);
  const Nodes started = main_pass(controller, select, 100, true);
  return {started, jobs_of(controller.queue())};
}

TEST(SlurmMainPass, TheFirstThatDoesNotFitBlocksItsPartition) {
  EXPECT_EQ(
      passed(plain_machine(4), {plain_job(0, 2, 60), plain_job(1, 3, 60), plain_job(2, 1, 5)}),
      (Nodes{0}));
}

TEST(SlurmMainPass, NodesOfABlockedPartitionLeaveThePass) {
  Machine machine = plain_machine(6);
  machine.partitions[0].nodes = nodes_from(0, 4, 6);
  machine.partitions.push_back({nodes_from(2, 6, 6), 1, kNever, 0});
  const auto started = [&](int wanted) {
    return passed(machine,
                  {plain_job(0, 1, 60), plain_job(1, 4, 60), plain_job(2, wanted, 60, 10, 1)});
  };
  EXPECT_EQ(started(2), (Nodes{0, 2}));
  EXPECT_EQ(started(3), (Nodes{0}));  // nodes 2 and 3 are kept for job 1
}

// Jobs of a blocked partition are gone by at once, those of others are not.
TEST(SlurmMainPass, BehindManyOfABlockedPartitionOthersStart) {
  Machine machine = plain_machine(6);
  machine.partitions[0].nodes = nodes_from(0, 4, 6);
  machine.partitions.push_back({nodes_from(4, 6, 6), 1, kNever, 0});
  machine.partitions.push_back({nodes_from(5, 6, 6), 1, kNever, 0});
  std::vector<Job> jobs{plain_job(0, 1, 60), plain_job(1, 4, 60), plain_job(2, 1, 60),
                        plain_job(3, 1, 60)};
  for (const int part : {1, 0, 2}) jobs.push_back(plain_job(4, 1, 60, 10, part));
  EXPECT_EQ(passed(machine, jobs), (Nodes{0, 4, 6}));
}

// A traced pass looks at all entries, one without a trace leaves out those that cannot start any
// more.
TEST(SlurmMainPass, StartsTheSameJobsWhereItIsTraced) {
  constexpr int kMachineNodes = 8;
  Rng rng(5);
  int started_count = 0;
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    Machine machine = plain_machine(kMachineNodes);
    machine.partitions.clear();
    for (int part = 0; part < 4; ++part) {
      const int first = static_cast<int>(rng.below(kMachineNodes - 2));
      const int last = static_cast<int>(rng.between(first + 3, kMachineNodes));
      machine.partitions.push_back({nodes_from(first, last, kMachineNodes), 1, kNever, 0});
    }
    std::vector<Job> jobs;
    for (int job = 0; job < 20; ++job)
      jobs.push_back(plain_job(job, static_cast<int>(rng.between(1, 3)), 60, 10,
                               static_cast<int>(rng.below(4))));
    const Scenario scenario = scenario_of(machine, jobs);
    TraceRecorder recorder{TraceSelection{}};
    Nodes started_jobs[2];
    std::optional<bool> has_changed[2];
    for (const int is_traced : {0, 1}) {
      ControllerState controller(scenario, -60, {});
      Select select(scenario, controller.allocations(), 0);
      for (int job = 0; job < static_cast<int>(jobs.size()); ++job) controller.submit(job, job);
      started_jobs[is_traced] =
          main_pass(controller, select, 100, true, is_traced ? &recorder : nullptr);
      has_changed[is_traced] = controller.updates().has_changed_since(100);
    }
    EXPECT_EQ(started_jobs[0], started_jobs[1]);
    EXPECT_EQ(has_changed[0], has_changed[1]);
    started_count += static_cast<int>(started_jobs[0].size());
  }
  EXPECT_GT(started_count, 600);
}

TEST(SlurmMainPass, AYoungJobBlocksNobody) {
  std::vector<Job> jobs{plain_job(0, 2, 60), plain_job(1, 3, 60), plain_job(2, 1, 60)};
  EXPECT_EQ(passed(plain_machine(4), jobs, {{"bf_min_age_reserve", 99}}), (Nodes{0}));
  EXPECT_EQ(passed(plain_machine(4), jobs, {{"bf_min_age_reserve", 100}}), (Nodes{0, 2}));
}

TEST(SlurmMainPass, DepthsAndStartsEndIt) {
  const std::vector<Job> jobs(5, plain_job(0, 1, 60));
  const Machine machine = plain_machine(8);
  EXPECT_EQ(passed(machine, jobs, {{"sched_max_job_start", 2}}), (Nodes{0, 1}));
  EXPECT_EQ(passed(machine, jobs, {{"partition_job_depth", 3}}), (Nodes{0, 1, 2}));
  std::vector<Job> with_array = jobs;  // which counts anew behind a task that started
  for (const int task : {0, 1, 2}) with_array[static_cast<std::size_t>(task)].conditions.array = 0;
  EXPECT_EQ(passed(machine, with_array, {{"partition_job_depth", 2}}), (Nodes{0, 1}));
  EXPECT_EQ(passed(machine, with_array, {{"default_queue_depth", 1}}, false), (Nodes{0, 1}));
  EXPECT_EQ(passed(machine, jobs, {{"default_queue_depth", 3}}), (Nodes{0, 1, 2, 3, 4}));
  EXPECT_EQ(passed(machine, jobs, {{"default_queue_depth", 3}}, false), (Nodes{0, 1, 2, 3}));
}

TEST(SlurmMainPass, SkippedJobsAreMoreWorkTheBlockingOneIsNot) {
  Machine machine = plain_machine(4);
  machine.partitions.push_back({nodes_from(3, 4, 4), 1, kNever, 0});  // the node that job 0 leaves
  for (const int behind : {-1, 0, 1}) {                               // of which partition, if any
    std::vector<Job> jobs{plain_job(0, 3, 60), plain_job(1, 2, 60)};
    if (behind >= 0) jobs.push_back(plain_job(2, 1, 60, 10, behind));
    const Scenario scenario = scenario_of(machine, jobs);
    ControllerState controller(scenario, -60, {});
    Select select(scenario, controller.allocations(), 0);
    for (int job = 0; job < static_cast<int>(jobs.size()); ++job) controller.submit(job, 0);
    main_pass(controller, select, 50, true);
    EXPECT_TRUE(controller.updates().has_changed_since(50));  // job 0 started
    main_pass(controller, select, 70, true);
    EXPECT_EQ(controller.updates().has_changed_since(70), behind >= 0);
  }
}

TEST(SlurmMainPass, WaitsForCompletingJobs) {
  const Scenario scenario = scenario_of(
      plain_machine(4), {plain_job(0, 1, 60), plain_job(1, 1, 60)}, {{"CompleteWait", 10}});
  ControllerState controller(scenario, -60, {});
  Select select(scenario, controller.allocations(), 0);
  controller.submit(0, 0);
  EXPECT_EQ(main_pass(controller, select, 10, true), Nodes{0});
  controller.end(0, 20, false);
  controller.submit(1, 20);
  EXPECT_EQ(main_pass(controller, select, 25, true), Nodes{});
  EXPECT_EQ(main_pass(controller, select, 31, true), Nodes{1});
}

TEST(SlurmMainPass, AJobInTwoPartitionsStartsInTheFirstThatFits) {
  Machine machine = plain_machine(6);
  machine.partitions[0].nodes = nodes_from(0, 2, 6);
  machine.partitions.push_back({nodes_from(2, 6, 6), 1, kNever, 0});
  std::vector<Job> jobs{plain_job(0, 1, 60), plain_job(1, 2, 60), plain_job(2, 1, 60)};
  jobs[1].partitions = {0, 1};
  EXPECT_EQ(passed_with_entries(machine, jobs), (std::pair(Nodes{0, 1}, Nodes{2})));
}

TEST(SlurmMainPass, AJobWithoutLicencesBlocksNobody) {
  Machine machine = plain_machine(4);
  machine.licences = {2};
  std::vector<Job> jobs(4, plain_job(0, 1, 60));
  for (const int job : {0, 1, 2})
    jobs[static_cast<std::size_t>(job)].conditions.licences = {{0, 1}};
  EXPECT_EQ(passed_with_entries(machine, jobs).first, (Nodes{0, 1, 3}));
}

TEST(SlurmMainPass, AJobWithoutLicencesIsMoreWork) {
  Machine machine = plain_machine(4);
  machine.licences = {0};
  std::vector<Job> jobs{plain_job(0, 1, 60)};
  jobs[0].conditions.licences = {{0, 1}};
  const Scenario scenario = scenario_of(machine, jobs);
  ControllerState controller(scenario, -60, {});
  Select select(scenario, controller.allocations(), 0);
  controller.submit(0, 0);
  EXPECT_EQ(main_pass(controller, select, 50, true), Nodes{});
  EXPECT_TRUE(controller.updates().has_changed_since(50));
}

TEST(SlurmMainPass, AJobThatTheNodesLeftWouldNeverHoldBlocksNobody) {
  // The first blocks its partition, whose nodes leave: job 1 needs more than the node that is left,
  // job 2 does not.
  Machine machine = shared_machine({4, 4, 4});
  machine.partitions[0].nodes = nodes_from(0, 2, 3);
  machine.partitions.push_back({nodes_from(0, 3, 3), 1, kNever, 0});
  std::vector<Job> jobs{shared_job(4), shared_job(8), shared_job(5), shared_job(2)};
  jobs[2].partition = jobs[3].partition = 1;
  EXPECT_EQ(passed_with_entries(machine, jobs).first, (Nodes{0, 3}));
  jobs[2].cpus = jobs[2].request.tasks = 4;  // now it fits, and then nothing is left
  EXPECT_EQ(passed_with_entries(machine, jobs).first, (Nodes{0, 2}));
}

TEST(SlurmMainPass, ATaskThatDoesNotFitStopsItsArray) {
  std::vector<Job> jobs(4, plain_job(0, 1, 60));
  for (const int job : {0, 1, 2}) {
    jobs[static_cast<std::size_t>(job)].conditions.array = 0;
    jobs[static_cast<std::size_t>(job)].conditions.array_limit = 2;
  }
  EXPECT_EQ(passed_with_entries(plain_machine(4), jobs).first, (Nodes{0, 1, 3}));
}

TEST(SlurmMainPass, ATaskThatDoesNotStartStopsThoseOfItsArrayAlone) {
  // Tasks of three nodes, then of one, none of which is old enough to block others.
  std::vector<Job> jobs(2, plain_job(0, 3, 60));
  jobs.insert(jobs.end(), 2, plain_job(0, 1, 60));
  for (std::size_t job = 0; job < 4; ++job) jobs[job].conditions.array = job < 2 ? 0 : 1;
  EXPECT_EQ(passed(plain_machine(4), jobs, {{"bf_min_age_reserve", 999}}), (Nodes{0, 2}));
  // One behind a task that waits is not looked at; of a job that is, a pass says "more work"
  // (RULES.md 3.2).
  for (const bool array : {false, true}) {
    jobs = {plain_job(0, 3, 60), plain_job(1, 2, 60), plain_job(1, 2, 60)};
    for (const std::size_t job : {1, 2}) jobs[job].conditions.array = array ? 0 : -1;
    const Scenario scenario = scenario_of(plain_machine(4), jobs);
    ControllerState controller(scenario, -60, {});
    Select select(scenario, controller.allocations(), 0);
    for (int job = 0; job < 3; ++job) controller.submit(job, 1);
    main_pass(controller, select, 50, true);
    main_pass(controller, select, 70, true);
    EXPECT_EQ(controller.updates().has_changed_since(70), !array);
  }
}

TEST(SlurmMainPass, ReservedNodesAreForItsJobs) {
  std::vector<Job> jobs(4, plain_job(0, 2, 60));
  jobs[2].conditions.reservation = jobs[3].conditions.reservation = 0;
  const Scenario scenario(
      plain_machine(4), jobs, to_settings({}),
      {{.created_at = 0, .begin = 90, .end = 900, .nodes = nodes_from(0, 2, 4)}});
  ControllerState controller(scenario, -60, {});
  Select select(scenario, controller.allocations(), 0);
  for (int job = 0; job < 4; ++job) controller.submit(job, job);
  // Job 2 comes first, 3 finds its reservation full, and blocks nobody else.
  EXPECT_EQ(main_pass(controller, select, 100, true), (Nodes{2, 0}));
}

TEST(SlurmMainPass, AJobThatDoesNotFitBlocksItsReservationAlone) {
  std::vector<Job> jobs{plain_job(0, 1, 60), plain_job(0, 2, 60), plain_job(0, 1, 60),
                        plain_job(0, 1, 60)};
  for (std::size_t job = 0; job < 4; ++job) jobs[job].conditions.reservation = job < 3 ? 0 : 1;
  const Scenario scenario(
      plain_machine(4), jobs, to_settings({}),
      {{.created_at = 0, .begin = 90, .end = 900, .nodes = nodes_from(0, 2, 4)},
       {.created_at = 0, .begin = 90, .end = 900, .nodes = nodes_from(2, 4, 4)}});
  ControllerState controller(scenario, -60, {});
  Select select(scenario, controller.allocations(), 0);
  for (int job = 0; job < 4; ++job) controller.submit(job, job);
  EXPECT_EQ(main_pass(controller, select, 100, true), (Nodes{0, 3}));
}

}  // namespace
}  // namespace cosched::slurm
