#include "cosched/slurm/plan/backfill_cycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cosched/slurm/select/node_choice.hpp"
#include "cosched/slurm/select/select.hpp"
#include "cosched/slurm/state/journal.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_clocks.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

struct Planned {
  Second begin, end;
  Nodes nodes;
  bool operator==(const Planned& other) const {
    return begin == other.begin && end == other.end && nodes == other.nodes;
  }
};

// Cycles on a machine where job 0 runs from second 0 on the lowest nodes, and all others wait.
class Cycles {
 public:
  // Where plans are not recorded, cycles that would change nothing are spared.
  Cycles(Machine machine, std::vector<Job> jobs,
         const std::map<std::string, double>& parameters = {}, bool plans = true,
         std::vector<Reservation> reservations = {})
      : scenario_(std::move(machine), std::move(jobs), to_settings(parameters),
                  std::move(reservations)),
        controller(scenario_, -60, {false, plans}),
        select_(scenario_, controller.allocations(), 0),
        cycle(clocks, controller, select_) {
    const int nodes = scenario_.machine().nodes, first = scenario_.job(0).nodes;
    NodeChoice choice = choice_from(0, first, nodes);
    if (scenario_.shares_nodes())
      for (int node = 0; node < first; ++node)
        choice.shares.nodes.push_back(
            {node, scenario_.machine().node_cores[static_cast<std::size_t>(node)], 0});
    controller.start({0, 0}, choice, 0, Scheduler::main);
    for (int job = 1; job < static_cast<int>(scenario_.jobs().size()); ++job)
      controller.submit(job, 0);
  }
  Nodes run(double time) { return cycle.run(time); }
  // The job runs, too, since second 0.
  void start(int job, int first, int last) {
    controller.start({job, 0}, choice_from(first, last, scenario_.machine().nodes), 0,
                     Scheduler::main);
    controller.remove_from_queue(job);
  }
  // The last plan of a job.
  Planned plan(int job) const {
    const Outcome outcome = std::move(Journal(controller.journal())).outcome();
    for (auto note = outcome.notes.rbegin(); note != outcome.notes.rend(); ++note)
      if (note->job == job && note->action == Action::plan)
        return {note->start, note->end, note->nodes};
    return {kNever, kNever, {}};
  }

 private:
  Scenario scenario_;

 public:
  Clocks clocks;
  ControllerState controller;

 private:
  Select select_;

 public:
  BackfillCycle cycle;
};

TEST(SlurmBackfillCycle, StartsWhatDelaysNobody) {
  // Job 0 has three of four nodes until 300; job 1 wants two; 2 would pass it, 3 ends before.
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, 100), plain_job(0, 1, 400),
                                   plain_job(0, 1, 200)});
  EXPECT_EQ(cycles.run(10), Nodes{3});
  EXPECT_EQ(cycles.plan(1), (Planned{300, 360, {0, 1, 2, 3}}));  // the end is rounded down
  EXPECT_EQ(cycles.plan(2), (Planned{360, 720, {3}}));
}

TEST(SlurmBackfillCycle, APlannedStartIsRoundedDown) {
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 299), plain_job(0, 4, 100), plain_job(0, 1, 239),
                                   plain_job(0, 1, 230)});
  // Job 1 is reserved from 240 on: a job may run until then, not until 249.
  EXPECT_EQ(cycles.run(10), (Nodes{}));
  EXPECT_EQ(cycles.plan(1).begin, 299);
  Cycles brief(plain_machine(4),
               {plain_job(0, 3, 299), plain_job(0, 4, 100), plain_job(0, 1, 229)});
  EXPECT_EQ(brief.run(10), (Nodes{2}));
}

TEST(SlurmBackfillCycle, ANodeThatIsCompletingIsPlannedNotTaken) {
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 2, 100)});
  cycles.controller.end(0, 20, false);
  EXPECT_EQ(cycles.run(30), Nodes{});
  EXPECT_EQ(cycles.plan(1).begin, 31);
  cycles.controller.complete_epilog(0, 31);
  EXPECT_EQ(cycles.run(60), Nodes{1});
}

TEST(SlurmBackfillCycle, NoPlanBehindTheWindow) {
  for (const double window : {280.0, 300.0}) {
    Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, 100)},
                  {{"bf_window", window}});
    cycles.run(10);
    EXPECT_EQ(cycles.plan(1).begin, window < 290 ? kNever : 300);
  }
}

TEST(SlurmBackfillCycle, EndsAfterTestsStartsOrRecords) {
  const auto started = [](const std::map<std::string, double>& parameters) {
    std::vector<Job> jobs(6, plain_job(0, 1, 60));
    jobs[0] = plain_job(0, 1, 600);
    return Cycles(plain_machine(8), jobs, parameters).run(10);
  };
  EXPECT_EQ(started({}), (Nodes{1, 2, 3, 4, 5}));
  EXPECT_EQ(started({{"bf_max_job_test", 2}}), (Nodes{1, 2}));
  EXPECT_EQ(started({{"bf_max_job_start", 3}}), (Nodes{1, 2, 3}));
  EXPECT_EQ(started({{"bf_max_job_user", 4}}), (Nodes{1, 2, 3, 4}));
  // Each plan makes two records: the third job's has no room any more, the last is not looked at.
  Cycles short_cycles(plain_machine(2),
                      {plain_job(0, 2, 600), plain_job(0, 1, 60), plain_job(0, 1, 300),
                       plain_job(0, 1, 60), plain_job(0, 1, 60)},
                      {{"bf_node_space_size", 4}});
  short_cycles.run(10);
  EXPECT_EQ(short_cycles.plan(2).begin, 600);
  EXPECT_EQ(short_cycles.plan(4).begin, kNever);
}

TEST(SlurmBackfillCycle, EndsAfterSoManySeconds) {
  Cycles cycles(plain_machine(8), std::vector<Job>(5, plain_job(0, 1, 600)), {{"bf_max_time", 3}});
  cycles.clocks.test_cost = 1;
  EXPECT_EQ(cycles.run(10), (Nodes{1, 2, 3}));
}

// Job 0 has three of four nodes until 300; the others want one each.
TEST(SlurmBackfillCycle, NodesThatJobsLeaveWhileItRestsAreForNobodyUntilItEnds) {
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 1, 60), plain_job(0, 1, 60)});
  cycles.clocks.slices = {{{.end_time = 12, .jobs_examined = 1, .resume_time = 14},
                           {.end_time = 15, .jobs_examined = 2, .resume_time = kEndOfQueue}}};
  EXPECT_EQ(cycles.run(10), Nodes{1});
  ASSERT_TRUE(cycles.cycle.has_yielded());
  EXPECT_EQ(cycles.cycle.resume_time(), 14);
  EXPECT_FALSE(
      cycles.cycle.is_reacquiring_locks(12.5));  // who wants the locks before it does has them
  EXPECT_TRUE(cycles.cycle.is_reacquiring_locks(12.6));
  cycles.controller.end(1, 13, false);
  cycles.controller.complete_epilog(1, 13);
  cycles.cycle.on_epilog_complete(cycles.controller.allocations().nodes(1));
  EXPECT_EQ(cycles.cycle.resume(), Nodes{});
  EXPECT_FALSE(cycles.cycle.has_yielded());
  EXPECT_EQ(cycles.plan(2), (Planned{300, 360, {0}}));
  EXPECT_EQ(cycles.run(40), Nodes{2});
  EXPECT_EQ(cycles.controller.allocations().nodes(2).to_list(), Nodes{3});
}

TEST(SlurmBackfillCycle, ItSeesWhatHasStartedWhileItRested) {
  Cycles cycles(plain_machine(4), {plain_job(0, 2, 300), plain_job(0, 1, 60), plain_job(0, 1, 60),
                                   plain_job(0, 1, 60)});
  cycles.clocks.slices = {{{.end_time = 12, .jobs_examined = 1, .resume_time = 14.5},
                           {.end_time = 15, .jobs_examined = 3, .resume_time = kEndOfQueue}}};
  EXPECT_EQ(cycles.run(10), Nodes{1});
  cycles.start(2, 3, 4);
  EXPECT_EQ(cycles.cycle.resume(), Nodes{});
  EXPECT_EQ(cycles.plan(3).begin, 60);  // where the other ends by its limit
  EXPECT_DOUBLE_EQ(cycles.cycle.duration(), 5);
}

TEST(SlurmBackfillCycle, ItGivesUpWhereItWasRecordedToHave) {
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, 60), plain_job(0, 4, 60)});
  cycles.clocks.slices = {{{.end_time = 12, .jobs_examined = 1, .resume_time = kGaveUp}}};
  EXPECT_EQ(cycles.run(10), Nodes{});
  EXPECT_FALSE(cycles.cycle.has_yielded());
  EXPECT_EQ(cycles.plan(1).begin, 300);
  EXPECT_EQ(cycles.plan(2).begin, kNever);
}

// Both have another size once they have a plan; that priorities are computed anew in a rest is
// undone for what is looked at behind it.
TEST(SlurmBackfillCycle, BehindARestJobsHaveThePriorityOfItsBegin) {
  Machine machine = plain_machine(4);
  machine.cpus = 16;
  Cycles cycles(machine, {plain_job(0, 4, 300), plain_job(0, 2, 100), plain_job(0, 2, 100)},
                {{"multifactor", 1}, {"PriorityWeightJobSize", 1600}, {"cons_tres", 1}});
  cycles.clocks.slices = {{},
                          {{.end_time = 42, .jobs_examined = 1, .resume_time = 44},
                           {.end_time = 45, .jobs_examined = 2, .resume_time = kEndOfQueue}}};
  cycles.run(10);
  cycles.run(40);
  cycles.controller.recalculate_priorities();
  EXPECT_EQ(cycles.controller.queue().priority(2), 1600 * 0.5);
  cycles.cycle.resume();
  EXPECT_EQ(cycles.controller.queue().priority(1), 1600 * 0.5);
  EXPECT_EQ(cycles.controller.queue().priority(2), 1600 * (0.5 + 0.125) / 2);
  EXPECT_EQ(jobs_of(cycles.controller.queue()), (Nodes{1, 2}));
}

// As above, but it rested between two tries of job 2, which overlaps with job 1 where it would
// begin first.
TEST(SlurmBackfillCycle, AJobInWhoseMiddleItRestsKeepsItsNewPriority) {
  Machine machine = plain_machine(4);
  machine.cpus = 16;
  Cycles cycles(machine, {plain_job(0, 4, 300), plain_job(0, 3, 100), plain_job(0, 3, 100)},
                {{"multifactor", 1}, {"PriorityWeightJobSize", 1600}, {"cons_tres", 1}});
  cycles.clocks.slices = {
      {},
      {{.end_time = 42, .jobs_examined = 1, .resume_time = 44, .ends_mid_job = true},
       {.end_time = 45, .jobs_examined = 2, .resume_time = kEndOfQueue}}};
  cycles.run(10);
  cycles.run(40);
  cycles.controller.recalculate_priorities();
  cycles.controller.end(0, 43, false);
  cycles.controller.complete_epilog(0, 43);
  EXPECT_EQ(cycles.cycle.resume(), Nodes{});  // it goes on behind its first try, though it fits
  EXPECT_EQ(cycles.controller.queue().priority(2), 1600 * 0.75);
  EXPECT_EQ(cycles.plan(2).begin, 360);
}

// Job 0 has all nodes; job 1, of a higher tier, may end it from second 60 on.
TEST(SlurmBackfillCycle, ACycleIsNotSparedOnceAJobIsNoLongerExemptFromPreemption) {
  Machine machine = plain_machine(4);
  machine.partitions.push_back(machine.partitions[0]);
  machine.partitions[1].tier = 2;
  std::vector<Job> jobs{plain_job(0, 4, 900), plain_job(0, 2, 100)};
  jobs[1].partition = 1;
  Cycles cycles(machine, jobs, {{"PreemptType", 1}, {"PreemptMode", 2}, {"PreemptExemptTime", 60}},
                false);
  cycles.run(10);
  cycles.run(40);
  EXPECT_TRUE(cycles.controller.terminated_jobs().empty());
  cycles.run(70);
  ASSERT_EQ(cycles.controller.terminated_jobs().size(), 1u);
  EXPECT_EQ(cycles.controller.terminated_jobs()[0].job, 0);
}

// A cycle that yielded in the middle of job 2, which has started when it resumes: job 3 is tried
// from now on.
TEST(SlurmBackfillCycle, TheRetryTimeOfAnInterruptedJobIsOfNoOtherJob) {
  Cycles cycles(plain_machine(4), {plain_job(0, 4, 300), plain_job(0, 3, 100), plain_job(0, 3, 100),
                                   plain_job(0, 1, 100)});
  cycles.clocks.slices = {
      {},
      {{.end_time = 42, .jobs_examined = 1, .resume_time = 44, .ends_mid_job = true},
       {.end_time = 45, .jobs_examined = 2, .resume_time = kEndOfQueue}}};
  cycles.run(10);
  cycles.run(40);
  ASSERT_TRUE(cycles.cycle.has_yielded());
  cycles.controller.end(0, 43, false);
  cycles.controller.complete_epilog(0, 43);
  cycles.start(2, 0, 3);
  EXPECT_EQ(cycles.cycle.resume(), Nodes{3});
}

// Job 0 has two of four nodes until 300; the others want one each.
TEST(SlurmBackfillCycle, NodesThatGoDownWhileItHasYieldedAreNotUsed) {
  Cycles cycles(plain_machine(4), {plain_job(0, 2, 300), plain_job(0, 1, 60), plain_job(0, 1, 60)});
  cycles.clocks.slices = {{{.end_time = 12, .jobs_examined = 1, .resume_time = 14},
                           {.end_time = 15, .jobs_examined = 2, .resume_time = kEndOfQueue}}};
  EXPECT_EQ(cycles.run(10), Nodes{1});
  NodeBits down(4);
  down.add(3);
  cycles.controller.set_nodes_up(down, false);
  EXPECT_EQ(cycles.cycle.resume(), Nodes{});
  EXPECT_EQ(cycles.plan(2).nodes, Nodes{2});
}

TEST(SlurmBackfillCycle, StartsBeforeAYieldCountForTheMostStartsOfACycle) {
  Cycles cycles(
      plain_machine(4),
      {plain_job(0, 1, 300), plain_job(0, 1, 60), plain_job(0, 1, 60), plain_job(0, 1, 60)},
      {{"bf_max_job_start", 2}});
  cycles.clocks.slices = {{{.end_time = 12, .jobs_examined = 1, .resume_time = 14},
                           {.end_time = 15, .jobs_examined = 3, .resume_time = kEndOfQueue}}};
  EXPECT_EQ(cycles.run(10), Nodes{1});
  EXPECT_EQ(cycles.cycle.resume(), Nodes{2});
}

TEST(SlurmBackfillCycle, AYoungJobIsNotPlanned) {
  const std::vector<Job> jobs{plain_job(0, 3, 300), plain_job(0, 4, 100), plain_job(0, 1, 900)};
  Cycles cycles(plain_machine(4), jobs, {{"bf_min_age_reserve", 30}});
  EXPECT_EQ(cycles.run(10), Nodes{2});  // nothing is reserved for job 1
  EXPECT_EQ(cycles.plan(1).begin, kNever);
  EXPECT_EQ(cycles.run(40), Nodes{});
  EXPECT_EQ(cycles.plan(1).begin, 910);
}

TEST(SlurmBackfillCycle, APlanOnAnIdleNodeIsMoreWork) {
  for (const int wanted : {3, 4}) {  // 3: on the nodes of job 0 alone
    Machine machine = plain_machine(4);
    machine.partitions.push_back({nodes_from(0, wanted, 4), 1, kNever, 0});
    Cycles cycles(machine, {plain_job(0, 3, 300), plain_job(0, wanted, 100, 10, 1)});
    cycles.run(10);
    EXPECT_EQ(cycles.controller.updates().has_changed_since(10), wanted == 4);
    EXPECT_EQ(cycles.plan(1).begin, 300);
    Cycles since_24(machine, {plain_job(0, 3, 300), plain_job(0, wanted, 100, 10, 1)},
                    {{"since_24", 1}});
    since_24.run(10);
    EXPECT_TRUE(since_24.controller.updates().has_changed_since(10));  // every plan is
  }
}

TEST(SlurmBackfillCycle, ThatAPlanOnAnIdleNodeIsNoMoreIsMoreWork) {
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, 100)});
  cycles.run(10);
  cycles.controller.clear_queue();
  for (const Second time : {40, 70}) {
    cycles.run(static_cast<double>(time));
    EXPECT_EQ(cycles.controller.updates().has_changed_since(time), time == 40);
  }
}

// Job 1 starts and ends at 40; in the map it keeps its node for bf_resolution, until 60.
TEST(SlurmBackfillCycle, StartedJobsAreInTheMapWithConsTres) {
  const std::vector<Job> jobs{plain_job(0, 1, 900), plain_job(0, 1, 30), plain_job(0, 2, 100)};
  for (const bool cons_tres : {false, true}) {
    Cycles cycles(plain_machine(3), jobs, {{"cons_tres", cons_tres ? 1.0 : 0.0}});
    EXPECT_EQ(cycles.run(10), Nodes{1});
    EXPECT_EQ(cycles.plan(2).begin, cons_tres ? 60 : 40);
    EXPECT_TRUE(cycles.controller.updates().has_changed_since(10));
  }
}

// That of a cycle at 59 begins at 0: job 1, which ends at 69, has its node for the minute until 60.
TEST(SlurmBackfillCycle, TheBeginOfTheMapIsRoundedDown) {
  Cycles cycles(plain_machine(3), {plain_job(0, 1, 900), plain_job(0, 1, 10), plain_job(0, 2, 100)},
                {{"cons_tres", 1}});
  EXPECT_EQ(cycles.run(59), Nodes{1});
  EXPECT_EQ(cycles.plan(2).begin, 69);
}

TEST(SlurmBackfillCycle, OfStartedJobsThatShareNodesTheExclusiveOnesAreInTheMap) {
  for (const bool exclusive : {false, true}) {
    std::vector<Job> jobs{plain_job(0, 1, 900), shared_job(4, 30), shared_job(8, 100)};
    jobs[1].request.is_exclusive = exclusive;
    Cycles cycles(shared_machine({4, 4, 4}), jobs, {{"cons_tres", 1}});
    EXPECT_EQ(cycles.run(10), Nodes{1});
    EXPECT_EQ(cycles.plan(2).begin, exclusive ? 60 : 40);
  }
}

// Second 300 is behind the window of 200 s until 100: then job 1 has a plan, on the idle node too.
TEST(SlurmBackfillCycle, ACycleIsNotSparedOnceAComparisonWithTheTimeComesOutOtherwise) {
  Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, 100)},
                {{"bf_window", 200}}, false);
  for (const Second time : {10, 99, 100}) {
    EXPECT_EQ(cycles.run(static_cast<double>(time)), Nodes{});
    EXPECT_EQ(cycles.controller.updates().has_changed_since(time), time == 100);
  }
}

TEST(SlurmBackfillCycle, EndsAreRoundedUpSince24) {
  for (const Second limit : {61, 90, 120}) {
    Cycles cycles(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, limit)},
                  {{"since_24", 1}});
    cycles.run(10);
    EXPECT_EQ(cycles.plan(1), (Planned{300, 420, {0, 1, 2, 3}}));
  }
}

// Job 0 has node 0 until 600, job 1 node 2 until 120; job 2 is planned on nodes 1 and 2 from then
// to 420, job 3 on all from 600.  For the last, node 0 alone is not reserved now, and there is more
// to have at 420; but on node 0 it would begin at 600, where that is.
TEST(SlurmBackfillCycle, WhetherItsNodesAreFreeIsAskedFirstSince24) {
  for (const bool since_24 : {false, true}) {
    Cycles cycles(plain_machine(3),
                  {plain_job(0, 1, 600), plain_job(0, 1, 120), plain_job(0, 2, 300),
                   plain_job(0, 3, 300), plain_job(0, 1, 120)},
                  {{"since_24", since_24 ? 1.0 : 0.0}});
    cycles.start(1, 2, 3);
    EXPECT_EQ(cycles.run(10), Nodes{});
    EXPECT_EQ(cycles.plan(2), (Planned{120, 420, {1, 2}}));
    EXPECT_EQ(cycles.plan(3), (Planned{600, 900, {0, 1, 2}}));
    EXPECT_EQ(cycles.plan(4).begin, since_24 ? 900 : 420);
  }
}

TEST(SlurmBackfillCycle, ASecondBehindAReservationThereIsMoreToHave) {
  Cycles cycles(plain_machine(4), {plain_job(0, 1, 100), plain_job(0, 4, 300)}, {}, true,
                {{.created_at = -10, .begin = 90, .end = 290, .nodes = nodes_from(1, 4, 4)}});
  EXPECT_EQ(cycles.run(10), Nodes{});
  EXPECT_EQ(cycles.plan(1).begin, 301);  // its end is rounded up
}

Job task_of(int array, int limit) {
  Job task = plain_job(0, 1, 60);
  task.conditions.array = array;
  task.conditions.array_limit = limit;
  return task;
}

TEST(SlurmBackfillCycle, AFullArrayIsLookedAtWhereItHasFilledInTheCycle) {
  Cycles cycles(plain_machine(4), {plain_job(0, 1, 300), task_of(0, 1), task_of(0, 1),
                                   plain_job(0, 1, 60), plain_job(0, 1, 60)});
  cycles.clocks.slices = {{{.end_time = 12, .jobs_examined = 3, .resume_time = kGaveUp}},
                          {{.end_time = 42, .jobs_examined = 1, .resume_time = kGaveUp}}};
  EXPECT_EQ(cycles.run(10), (Nodes{1, 3}));
  EXPECT_EQ(cycles.run(40), Nodes{4});
}

TEST(SlurmBackfillCycle, TheFirstTaskThatWaitsStartsThoughItHasAPlan) {
  Cycles cycles(plain_machine(3),
                {plain_job(0, 1, 300), task_of(0, 0), task_of(0, 0), task_of(0, 0)});
  cycles.controller.end(0, 5, false);  // its node is completing, and the first that is chosen
  EXPECT_EQ(cycles.run(10), (Nodes{1, 2}));
  EXPECT_EQ(cycles.plan(1).begin, 11);
}

// An array of tasks of four nodes behind job 0.
Cycles array_of(int tasks, int limit, const std::map<std::string, double>& parameters) {
  std::vector<Job> jobs{plain_job(0, 3, 300)};
  for (int task = 0; task < tasks; ++task) {
    jobs.push_back(plain_job(0, 4, 60));
    jobs.back().conditions.array = 0;
    jobs.back().conditions.array_limit = limit;
  }
  return Cycles(plain_machine(4), jobs, parameters);
}

int planned_tasks(int limit, const std::map<std::string, double>& parameters) {
  Cycles cycles = array_of(5, limit, parameters);
  cycles.run(10);
  int count = 0;
  for (int job = 1; job <= 5; ++job) count += cycles.plan(job).begin < kNever;
  return count;
}

TEST(SlurmBackfillCycle, TasksArePlannedOneAfterTheOther) {
  EXPECT_EQ(planned_tasks(0, {}), 5);
  EXPECT_EQ(planned_tasks(2, {}), 5);  // 22.05 looks at %2 for what runs alone
  EXPECT_EQ(planned_tasks(2, {{"since_24", 1}}), 2);
  EXPECT_EQ(planned_tasks(0, {{"bf_max_job_array_resv", 3}}), 3);
}

TEST(SlurmBackfillCycle, EachPartitionHasAPlanUnlessOneAJobIsTheRule) {
  for (const bool one_resv_per_job : {false, true}) {
    Machine machine = plain_machine(4);
    machine.partitions.push_back(machine.partitions[0]);
    std::vector<Job> jobs{plain_job(0, 3, 300), plain_job(0, 2, 60), plain_job(0, 2, 60)};
    jobs[1].partitions = {0, 1};
    Cycles cycles(machine, jobs, {{"bf_one_resv_per_job", one_resv_per_job ? 1.0 : 0.0}});
    cycles.run(10);
    EXPECT_EQ(cycles.plan(1).nodes, one_resv_per_job ? (Nodes{0, 1}) : (Nodes{2, 3}));
    EXPECT_EQ(cycles.plan(2).begin, one_resv_per_job ? 300 : 360);
  }
}

TEST(SlurmBackfillCycle, NoPlanWithoutLicences) {
  Machine machine = plain_machine(4);
  machine.licences = {0};
  std::vector<Job> jobs{plain_job(0, 3, 300), plain_job(0, 4, 60)};
  jobs[1].conditions.licences = {{0, 1}};
  Cycles cycles(machine, jobs);
  cycles.run(10);
  EXPECT_EQ(cycles.plan(1).begin, kNever);
}

TEST(SlurmBackfillCycle, FeaturesLeaveFewerNodes) {
  Machine machine = plain_machine(4);
  machine.node_sets = {nodes_from(0, 1, 4), nodes_from(2, 4, 4), nodes_from(0, 4, 4)};
  std::vector<Job> jobs{plain_job(0, 1, 300), plain_job(0, 1, 60), plain_job(0, 1, 60)};
  jobs[1].node_set = 0;
  jobs[2].node_set = 2;  // [a|b]: a is taken until 300, b is free
  jobs[2].alternative_sets = {0, 1};
  Cycles cycles(machine, jobs);
  EXPECT_EQ(cycles.run(10), Nodes{2});
  EXPECT_EQ(cycles.controller.allocations().nodes(2).to_list(), Nodes{2});
  EXPECT_EQ(cycles.plan(1), (Planned{300, 360, {0}}));
}

TEST(SlurmBackfillCycle, TheSizeOfAJobIsThatOfItsNodesOnceAPlanHasFoundSome) {
  Machine machine = plain_machine(4);
  machine.cpus = 16;  // of which a job asks for one a node
  Cycles cycles(machine, {plain_job(0, 4, 300), plain_job(0, 2, 100)},
                {{"multifactor", 1}, {"PriorityWeightJobSize", 1600}, {"cons_tres", 1}});
  EXPECT_EQ(cycles.controller.queue().priority(1), 1600 * (0.5 + 0.125) / 2);
  cycles.run(10);
  cycles.controller.recalculate_priorities();
  EXPECT_EQ(cycles.controller.queue().priority(1), 1600 * 0.5);
}

TEST(SlurmBackfillCycle, NoPlanNoOtherSize) {
  Machine machine = plain_machine(4);
  machine.cpus = 16;
  Cycles cycles(machine, {plain_job(0, 4, kNever / 2), plain_job(0, 2, 100)},
                {{"multifactor", 1}, {"PriorityWeightJobSize", 1600}, {"bf_min_age_reserve", 900}});
  cycles.run(10);  // at once or not at all
  cycles.controller.recalculate_priorities();
  EXPECT_EQ(cycles.controller.queue().priority(1), 1600 * (0.5 + 0.125) / 2);
}

// One of a few kinds, of one of three users.
Job some_job(Rng& rng) {
  Job job = plain_job(0, static_cast<int>(rng.between(1, 2)), 60 * rng.between(1, 3), 10,
                      static_cast<int>(rng.below(2)));
  job.cpus = job.request.tasks = static_cast<int>(rng.between(1, 3)) * job.nodes;
  job.request.max_nodes = rng.below(2) ? job.nodes : kAnyNodes;
  job.request.gpus = rng.below(6) == 0 ? 1 : 0;
  job.user = static_cast<int>(rng.below(3));
  job.qos = static_cast<int>(rng.below(3)) - 1;
  job.node_set = static_cast<int>(rng.below(3)) - 1;
  job.priority = static_cast<double>(rng.below(100));
  return job;
}

// Cycles that remember which kinds of jobs found nothing do what those do that test every job.
TEST(SlurmBackfillCycle, WhatAKindDidNotFindItDoesNotFindAgain) {
  constexpr int kNodes = 6, kJobs = 80;
  Rng rng(8);
  std::size_t note_count = 0;
  for (int round = 0; round < 120; ++round) {
    SHOW_ON_FAILURE(round);
    Machine machine = tiers_of(std::vector<int>(kNodes, 4), {1, round % 3 == 0 ? 2 : 1});
    machine.node_gpus = {{0, 0, 2, 2, 0, 1}};
    machine.node_sets = {nodes_from(0, 4, kNodes), nodes_from(3, 6, kNodes)};
    machine.qos.resize(2);
    machine.qos[0].limits = {{Limit::Kind::user, kCpu, 6.0}};
    machine.qos[1].no_reserve = true;
    std::vector<Job> jobs;
    for (int job = 0; job < kJobs; ++job) jobs.push_back(some_job(rng));
    const Scenario scenario =
        scenario_of(machine, jobs,
                    {{"cons_tres", 1},
                     {"since_24", round % 2},
                     {"bf_max_job_user", rng.below(2) ? 0 : 15},
                     {"bf_one_resv_per_job", static_cast<double>(rng.below(2))},
                     {"bf_window", rng.below(2) ? 600 : 86400},
                     {"PreemptType", round % 5 == 0 ? 1 : 0}});
    Clocks clocks;
    clocks.test_cost = 0.2;
    const RecordOptions record{false, true};
    ControllerState first(scenario, -60, record), second(scenario, -60, record);
    Select remembers(scenario, first.allocations(), 0),
        forgets(scenario, second.allocations(), 0, false);
    BackfillCycle remembering(clocks, first, remembers), other(clocks, second, forgets);
    for (ControllerState* tables : {&first, &second})
      for (int job = 0; job < kJobs; ++job) tables->submit(job, 0);
    for (int time = 30; time < 900; time += 30) {
      ASSERT_EQ(remembering.run(time), other.run(time));
      EXPECT_EQ(remembering.duration(), other.duration());
      EXPECT_EQ(first.updates().last_job_update, second.updates().last_job_update);
      EXPECT_EQ(first.updates().last_node_update, second.updates().last_node_update);
      const Nodes running = first.allocations().running_jobs();
      for (const int job : running) {
        if (rng.below(3)) continue;
        for (ControllerState* tables : {&first, &second}) {
          tables->end(job, time + 5, false);
          tables->complete_epilog(job, time + 6);
        }
      }
    }
    const auto plans = [](ControllerState& controller) {
      return std::move(controller).outcome().notes;
    };
    const std::vector<DecisionNote> notes = plans(first), same = plans(second);
    ASSERT_EQ(notes.size(), same.size());
    note_count += notes.size();
    for (std::size_t k = 0; k < notes.size(); ++k) {
      EXPECT_EQ(notes[k].job, same[k].job);
      EXPECT_EQ(notes[k].start, same[k].start);
      EXPECT_EQ(notes[k].nodes, same[k].nodes);
    }
  }
  EXPECT_GT(note_count, 10000U);
}

}  // namespace
}  // namespace cosched::slurm
