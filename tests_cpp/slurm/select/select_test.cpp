#include "cosched/slurm/select/select.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/node_choice.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

Nodes list_of(const Loan<NodeChoice>& choice) { return choice ? choice->nodes.to_list() : Nodes{}; }

// Eight nodes; jobs 0, 1, 2 of one node and limits 100, 130, 200 run on nodes 0, 1, 2; 3 wants
// `wanted` nodes.
struct Busy {
  Busy(int wanted, const std::map<std::string, double>& parameters, Second epoch = 0)
      : scenario(scenario_of(plain_machine(8),
                             {plain_job(0, 1, 100), plain_job(0, 1, 130), plain_job(0, 1, 200),
                              plain_job(0, wanted, 60)},
                             parameters)),
        allocations(scenario),
        select(scenario, allocations, epoch) {
    for (int job = 0; job < 3; ++job) allocations.start(job, choice_from(job, job + 1, 8), 0);
  }
  std::pair<Second, Nodes> slot(Second now, bool at_once = false) {
    const auto answer = select.will_run({3, 0}, allocations.up_nodes(), {now, at_once});
    return answer ? std::pair(answer->begin, answer->nodes->to_list()) : std::pair(kNever, Nodes{});
  }
  Scenario scenario;
  Allocations allocations;
  Select select;
};

TEST(SlurmSelect, NowIsAmongIdleNodesThatAreNotCompleting) {
  Busy of(3, {});
  EXPECT_EQ(list_of(of.select.select_now({3, 0}, of.allocations.up_nodes())), (Nodes{3, 4, 5}));
  of.allocations.end(2, 50);
  EXPECT_EQ(list_of(of.select.select_now({3, 0}, of.allocations.up_nodes())), (Nodes{3, 4, 5}));
  of.allocations.complete_epilog(2);
  EXPECT_EQ(list_of(of.select.select_now({3, 0}, of.allocations.up_nodes())), (Nodes{2, 3, 4}));
  EXPECT_EQ(of.select.select_now({3, 0}, nodes_from(0, 5, 8))->nodes.to_list(), (Nodes{2, 3, 4}));
  EXPECT_FALSE(of.select.select_now({3, 0}, nodes_from(0, 4, 8)));
}

TEST(SlurmSelect, LinearStopsAtTheLineThatIsEnough) {
  for (const bool cons_tres : {false, true}) {
    Machine machine = plain_machine(6);
    // Nodes 4 and 5 are cheap; 0 to 3 have a hole.
    machine.node_lines = {nodes_from(4, 6, 6), nodes_from(0, 4, 6)};
    const Scenario scenario =
        scenario_of(machine, {plain_job(0, 1, 60), plain_job(0, 1, 60), plain_job(0, 2, 60)},
                    {{"cons_tres", cons_tres ? 1.0 : 0.0}});
    Allocations allocations(scenario);
    Select select(scenario, allocations, 0);
    allocations.start(0, choice_from(1, 2, 6), 0);
    // Best fit over all: node 0 alone is the shortest run.
    EXPECT_EQ(list_of(select.select_now({1, 0}, allocations.up_nodes())),
              cons_tres ? (Nodes{0}) : (Nodes{4}));
    // The first line is just enough; over all, 2 to 5 is one run.
    EXPECT_EQ(list_of(select.select_now({2, 0}, allocations.up_nodes())),
              cons_tres ? (Nodes{2, 3}) : (Nodes{4, 5}));
  }
}

TEST(SlurmSelect, LinearTestsAfterEachJob) {
  Busy of(6, {});
  EXPECT_EQ(of.slot(10), std::pair(Second{100}, Nodes({0, 3, 4, 5, 6, 7})));
  EXPECT_EQ(of.slot(10, true).first, kNever);
  for (const Second now : {100, 120}) EXPECT_EQ(of.slot(now).first, now + 1);  // job 0 is overdue
  Busy all(8, {});
  EXPECT_EQ(all.slot(10).first, 200);
  Busy small_machine(5, {});
  EXPECT_EQ(small_machine.slot(10), std::pair(Second{10}, Nodes({3, 4, 5, 6, 7})));
}

// What one test gives back, the next does not have: on a machine so large that few nodes are
// copied.
TEST(SlurmSelect, NodesGivenBackAreTakenAgain) {
  const std::vector<Job> jobs{shared_job(4, 100), shared_job(4, 200), shared_job(8), shared_job(7)};
  const Scenario scenario =
      scenario_of(shared_machine(std::vector<int>(64, 4)), jobs, {{"cons_tres", 1}});
  Allocations allocations(scenario);
  Select select(scenario, allocations, 0);
  for (int job = 0; job < 2; ++job) allocations.start(job, shares_from({{job, 4}}, 64), 0);
  for (const int job : {2, 3, 2}) {
    const auto slot = select.will_run({job, 0}, nodes_from(0, 2, 64), {10});
    ASSERT_TRUE(slot);
    EXPECT_EQ(slot->begin, 200);
    EXPECT_EQ(slot->nodes->to_list(), (Nodes{0, 1}));
  }
}

TEST(SlurmSelect, CompletingNodesCountAsFree) {
  Busy of(6, {});
  of.allocations.end(2, 50);
  EXPECT_EQ(of.slot(50), std::pair(Second{50}, Nodes({2, 3, 4, 5, 6, 7})));
}

TEST(SlurmSelect, ConsTresTestsAfterGroups) {
  // 100 is rounded up to 120; 130 is within 30 s of that: one group.
  EXPECT_EQ(Busy(6, {{"cons_tres", 1}}).slot(10).first, 130);
  EXPECT_EQ(Busy(8, {{"cons_tres", 1}}).slot(10).first, 200);
}

TEST(SlurmSelect, AGroupHas202JobsAtMost) {
  constexpr int kMost = 202, kRunning = kMost + 10;
  std::vector<Job> jobs(kMost, plain_job(0, 1, 100));
  jobs.resize(kRunning, plain_job(0, 1, 101));
  jobs.push_back(plain_job(0, 1, 60));
  const Scenario scenario = scenario_of(plain_machine(kRunning), jobs, {{"cons_tres", 1}});
  Allocations allocations(scenario);
  Select select(scenario, allocations, 0);
  for (int job = 0; job < kRunning; ++job)
    allocations.start(job, choice_from(job, job + 1, kRunning), 0);
  EXPECT_EQ(select.will_run({kRunning, 0}, allocations.up_nodes(), {10})->begin, 100);
}

TEST(SlurmSelect, TheWindowOfGroupsGrows) {
  // Ends 100, 155, 200, 250, 400: rounded up to 120, windows 30, then doubled until the next is
  // inside.
  const auto first_slot = [](int wanted, double linear, Second epoch = 0) {
    Machine machine = plain_machine(5);
    std::vector<Job> jobs;
    for (const Second limit : {100, 155, 200, 250, 400}) jobs.push_back(plain_job(0, 1, limit));
    jobs.push_back(plain_job(0, wanted, 60));
    const Scenario scenario =
        scenario_of(machine, jobs, {{"cons_tres", 1}, {"bf_window_linear", linear}});
    Allocations allocations(scenario);
    Select select(scenario, allocations, epoch);
    for (int job = 0; job < 5; ++job) allocations.start(job, choice_from(job, job + 1, 5), 0);
    return select.will_run({5, 0}, allocations.up_nodes(), {10, false})->begin;
  };
  EXPECT_EQ(first_slot(1, 0), 100);      // 155 is 35 s behind 120
  EXPECT_EQ(first_slot(1, 0, 20), 155);  // on this Unix clock, 25 s behind 130
  EXPECT_EQ(first_slot(2, 0), 155);      // window 60: 200 is outside
  EXPECT_EQ(first_slot(3, 0), 200);      // window 120: 250 is outside
  EXPECT_EQ(first_slot(4, 0), 250);
  EXPECT_EQ(first_slot(2, 100), 250);  // window 130: 155, 200 and 250 in one group
}

TEST(SlurmSelect, ConsTresExpectsTheOverdueAfterKillWait) {
  const std::map<std::string, double> parameters{
      {"cons_tres", 1}, {"KillWait", 20}, {"OverTimeLimit", 100}};
  for (const Second now : {200, 210}) EXPECT_EQ(Busy(8, parameters).slot(now).first, 320);
  EXPECT_EQ(Busy(8, parameters).slot(500).first, 501);
  auto unlimited = parameters;
  unlimited["OverTimeLimit"] = 4e18;
  EXPECT_EQ(Busy(8, unlimited).slot(500).first, 700);  // its limit from now
}

TEST(SlurmSelect, CoresOfSharedNodes) {
  Machine machine = plain_machine(2);
  machine.node_cores = {4, 4};
  std::vector<Job> jobs{plain_job(0, 1, 100), plain_job(0, 1, 60), plain_job(0, 1, 60)};
  jobs[0].cpus = 2;
  jobs[1].cpus = 2;
  jobs[2].cpus = 7;
  const Scenario scenario = scenario_of(machine, jobs, {{"cons_tres", 1}});
  Allocations allocations(scenario);
  Select select(scenario, allocations, 0);
  allocations.start(0, shares_from({{1, 2}}, 2), 0);
  EXPECT_EQ(list_of(select.select_now({1, 0}, allocations.up_nodes())),
            (Nodes{1}));  // the fewest that suffice
  EXPECT_FALSE(select.select_now({2, 0}, allocations.up_nodes()));
  EXPECT_FALSE(select.will_run({2, 0}, allocations.up_nodes(), {0, true}));
  const auto slot = select.will_run({2, 0}, allocations.up_nodes(), {0, false});
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->begin, 100);
  EXPECT_EQ(slot->nodes->to_list(), (Nodes{0, 1}));
}

// The job with a GPU has node 1 come first; 22.05 weighs nodes anew for starts alone, whether they
// are free now or later.
TEST(SlurmSelect, TestsFindTheWeightsThatAJobWithGpusLeft) {
  Machine machine = shared_machine({4, 4});
  machine.node_gpus = {{0, 2}};
  std::vector<Job> jobs{shared_job(1), shared_job(1), shared_job(8, 100)};
  jobs[0].request.gpus = 1;
  for (const bool since_24 : {false, true})
    for (const bool later : {false, true}) {
      const Scenario scenario =
          scenario_of(machine, jobs, {{"cons_tres", 1}, {"since_24", since_24}});
      Allocations allocations(scenario);
      Select select(scenario, allocations, 0);
      if (later) allocations.start(2, shares_from({{0, 4}, {1, 4}}, 2), 0);
      const auto tested = [&](int job) {
        const auto slot = select.will_run({job, 0}, allocations.up_nodes(), {0});
        EXPECT_EQ(slot->begin, later ? 100 : 0);
        return slot->nodes->to_list();
      };
      EXPECT_EQ(tested(1), Nodes{0});
      EXPECT_EQ(tested(0), Nodes{1});
      EXPECT_EQ(tested(1), since_24 ? Nodes{0} : Nodes{1});
      select.select_now({1, 0}, allocations.up_nodes());
      EXPECT_EQ(tested(1), Nodes{0});
    }
}

TEST(SlurmSelect, CompletingNodesComeLastOfTheirWeightSince24) {
  Machine machine = shared_machine({4, 4, 4});
  machine.node_weight = {1, 1, 2};
  for (const bool since_24 : {false, true}) {
    const Scenario scenario = scenario_of(machine, {shared_job(4), shared_job(1), shared_job(6)},
                                          {{"cons_tres", 1}, {"since_24", since_24}});
    Allocations allocations(scenario);
    Select select(scenario, allocations, 0);
    allocations.start(0, shares_from({{0, 4}}, 3), 0);
    allocations.end(0, 10);
    const auto tested = [&](int job) {
      return select.will_run({job, 0}, allocations.up_nodes(), {20})->nodes->to_list();
    };
    EXPECT_EQ(tested(1), since_24 ? Nodes{1} : Nodes{0});
    EXPECT_EQ(tested(2), (Nodes{0, 1}));  // it comes before dearer ones
  }
}

// A node of four cores; a job of the lower tier has three of them until 100, one of the higher two
// until 300.
TEST(SlurmSelect, PlansOfTiersGetCoresBack) {
  std::vector<Job> jobs{shared_job(3, 100), shared_job(2, 300), shared_job(2, 60),
                        shared_job(4, 60)};
  jobs[1].partition = 1;
  const Scenario scenario = suspending(tiers_of({4}, {1, 2}), jobs);
  Allocations allocations(scenario);
  Select select(scenario, allocations, 0);
  const NodeBits every = nodes_from(0, 1, 1);
  for (const int job : {0, 1}) {
    const Loan<NodeChoice> choice = select.select_now({job, job}, every);
    ASSERT_TRUE(choice);
    allocations.start(job, *choice, 0);
  }
  EXPECT_EQ(allocations.cores(0).to_list(), (Nodes{0, 1, 2}));
  EXPECT_EQ(allocations.cores(1).to_list(), (Nodes{0, 1}));
  EXPECT_FALSE(select.select_now({2, 0}, every));
  EXPECT_FALSE(select.select_now({3, 1}, every));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(select.will_run({2, 0}, every, {10})->begin, 100);
    EXPECT_EQ(select.will_run({3, 0}, every, {10})->begin, 300);
    EXPECT_EQ(select.will_run({3, 1}, every, {10})->begin, 300);
  }
}

TEST(SlurmSelect, OnTheNodesWithItsFeaturesAlone) {
  Machine machine = plain_machine(4);
  machine.node_sets = {nodes_from(2, 4, 4)};
  std::vector<Job> jobs{plain_job(0, 2, 60), plain_job(0, 3, 60)};
  for (Job& job : jobs) job.node_set = 0;
  const Scenario scenario = scenario_of(machine, jobs);
  Allocations allocations(scenario);
  Select select(scenario, allocations, 0);
  EXPECT_TRUE(select.could_run({0, 0}, allocations.up_nodes()));
  EXPECT_FALSE(select.could_run({1, 0}, allocations.up_nodes()));
  EXPECT_EQ(list_of(select.select_now({0, 0}, allocations.up_nodes())), (Nodes{2, 3}));
  EXPECT_FALSE(select.select_now({1, 0}, allocations.up_nodes()));
}

TEST(SlurmSelect, NodesOfOneAlternativeTheFirstOfEquals) {
  Machine machine = plain_machine(4);
  machine.node_sets = {nodes_from(0, 2, 4), nodes_from(2, 4, 4)};
  std::vector<Job> jobs{plain_job(0, 1, 100), plain_job(0, 2, 60)};
  jobs[1].alternative_sets = {0, 1};
  const Scenario scenario = scenario_of(machine, jobs);
  Allocations allocations(scenario);
  Select select(scenario, allocations, 0);
  const QueueEntry entry{1, 0};
  EXPECT_EQ(select.will_run(entry, allocations.up_nodes(), {0})->nodes->to_list(), (Nodes{0, 1}));
  EXPECT_EQ(list_of(select.select_now(entry, allocations.up_nodes())), (Nodes{0, 1}));
  allocations.start(0, choice_from(1, 2, 4), 0);
  EXPECT_EQ(select.will_run(entry, allocations.up_nodes(), {0})->nodes->to_list(), (Nodes{2, 3}));
  EXPECT_EQ(list_of(select.select_now(entry, allocations.up_nodes())), (Nodes{2, 3}));
}

}  // namespace
}  // namespace cosched::slurm
