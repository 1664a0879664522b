#include "cosched/slurm/simulate/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cosched/core/numeric.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_clocks.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

std::vector<Job> random_stream(Rng& rng, int jobs, int nodes) {
  std::vector<Job> stream;
  double now = 0;
  for (int j = 0; j < jobs; ++j) {
    now += static_cast<double>(rng.below(80));
    const auto runtime = static_cast<double>(rng.below(600));
    stream.push_back(
        plain_job(now, static_cast<int>(rng.between(1, nodes)), 60 * rng.between(1, 12), runtime));
    stream.back().user = static_cast<int>(rng.below(3));
  }
  return stream;
}

// Cycles that are spared (RULES.md 4.9) would have changed nothing: where notes are kept, none is.
TEST(SlurmSimulator, SparedCyclesChangeNothing) {
  Rng rng(5);
  const std::vector<std::map<std::string, double>> parameters{
      {},
      {{"cons_tres", 1}, {"bf_window", 1200}},
      {{"bf_min_age_reserve", 100}, {"bf_resolution", 1}},
      {{"OverTimeLimit", 120}, {"bf_node_space_size", 6}, {"bf_interval", 7}},
      {{"cons_tres", 1}, {"bf_max_job_test", 3}, {"sched_interval", 300}, {"defer", 1}}};
  int spared = 0;
  for (int round = 0; round < 40; ++round) {
    SHOW_ON_FAILURE(round);
    const Scenario scenario =
        scenario_of(plain_machine(8), random_stream(rng, 40, 8), parameters[round % 5]);
    Clocks clocks;
    clocks.epoch = rng.between(0, 3600);
    clocks.epilog_delay = 0.3;
    clocks.launch_delay = 0.7;
    const Outcome brief = simulate(scenario, clocks, {}),
                  with_reasons = simulate(scenario, clocks, {true, false});
    EXPECT_EQ(brief.start_exact, with_reasons.start_exact);
    EXPECT_EQ(brief.end_exact, with_reasons.end_exact);
    EXPECT_EQ(brief.nodes, with_reasons.nodes);
    EXPECT_EQ(brief.cycle_times, with_reasons.cycle_times);
    spared += static_cast<int>(with_reasons.cycle_times.size());
  }
  EXPECT_GT(spared, 1000);
}

// A small cluster with what jobs may ask of it: whole nodes or cores, memory, GPUs, features, two
// partitions, arrays, licences, an advance reservation, preemption, rules of both versions.
Scenario random_cluster(Rng& rng) {
  const auto chance = [&](int of_ten) { return static_cast<int>(rng.below(10)) < of_ten; };
  const int nodes = static_cast<int>(rng.between(2, 7));
  const bool shares_nodes = chance(5);
  const bool has_gpus = shares_nodes && chance(3);
  Machine machine = shares_nodes
                        ? shared_machine(std::vector<int>(static_cast<std::size_t>(nodes), 4))
                        : plain_machine(nodes);
  if (has_gpus) machine.node_gpus = {std::vector<int>(static_cast<std::size_t>(nodes), 2)};
  if (shares_nodes && chance(3)) machine.node_memory.assign(static_cast<std::size_t>(nodes), 8000);
  machine.node_sets = {nodes_from(0, nodes - 1, nodes)};
  machine.licences = {2};
  if (chance(5)) {
    machine.partitions.push_back({nodes_from(nodes / 2, nodes, nodes), 1, kNever, 0});
    machine.partitions.back().tier = static_cast<int>(rng.between(1, 2));
  }
  std::map<std::string, double> parameters;
  const auto may_set = [&](const char* name, double value) {
    if (chance(2)) parameters[name] = value;
  };
  may_set("bf_window", static_cast<double>(rng.between(5, 40) * 60));
  may_set("bf_resolution", static_cast<double>(rng.between(1, 90)));
  may_set("bf_interval", static_cast<double>(rng.between(5, 60)));
  may_set("bf_max_job_test", static_cast<double>(rng.between(2, 10)));
  may_set("bf_max_job_start", 1);
  may_set("bf_max_job_user", 3);
  may_set("bf_node_space_size", static_cast<double>(rng.between(4, 12)));
  may_set("bf_min_age_reserve", 90);
  may_set("bf_one_resv_per_job", 1);
  may_set("bf_max_job_array_resv", 2);
  may_set("OverTimeLimit", 60);
  may_set("CompleteWait", 8);
  may_set("age_counts", 1);
  if (shares_nodes || chance(5)) parameters["cons_tres"] = 1;
  if (chance(5)) parameters["since_24"] = 1;
  if (machine.partitions.size() > 1 && chance(4)) {
    parameters["PreemptType"] = 1;
    parameters["PreemptMode"] = static_cast<double>(rng.between(1, 2));
    if (chance(5)) parameters["PreemptExemptTime"] = 100;
  }
  std::vector<Job> jobs = random_stream(rng, static_cast<int>(rng.between(8, 24)), nodes);
  int array_count = 0;
  bool is_in_array = false;  // the job before is a task of an array
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    Job& job = jobs[j];
    job.partition = static_cast<int>(rng.below(machine.partitions.size()));
    const int size = machine.partitions[job.partition].nodes.count();
    job.nodes = std::min(job.nodes, size);
    if (shares_nodes) {
      job.nodes = 1;
      job.cpus = job.request.tasks = static_cast<int>(rng.between(1, 4 * size));
      job.request.is_exclusive = chance(1);
      if (!machine.node_memory.empty()) job.request.memory = rng.between(1, 4) * 1000;
      if (has_gpus && chance(4)) {
        job.request.gpus = static_cast<int>(rng.between(1, 2));
        job.request.are_gpus_by_node = true;
        job.request.max_nodes = 1;
        job.cpus = job.request.tasks = std::min(job.cpus, 4);
      }
    } else if (job.partition == 0 && job.nodes < nodes && chance(2)) {
      job.node_set = 0;
    }
    if (chance(1)) job.conditions.licences = {{0, 1}};
    if (is_in_array && chance(6)) {
      job = jobs[j - 1];  // the next task
    } else {
      is_in_array = chance(3);
      if (is_in_array) {
        job.conditions.array = array_count;
        job.conditions.array_limit = chance(5) ? 2 : 0;
        ++array_count;
      }
    }
  }
  std::vector<Reservation> reservations;
  if (chance(2))
    reservations.push_back(
        {.created_at = 100, .begin = 900, .end = 1500, .nodes = nodes_from(0, 1, nodes)});
  return Scenario(std::move(machine), std::move(jobs), to_settings(parameters),
                  std::move(reservations));
}

// RULES.md 4.9, 4.10: what is remembered changes no start, end, node or cycle.
TEST(SlurmSimulator, RandomClustersEndAlikeWithAndWithoutMemory) {
  Rng rng(11);
  std::size_t starts_by_backfill = 0;
  for (int round = 0; round < 2000; ++round) {
    SHOW_ON_FAILURE(round);
    const Scenario scenario = random_cluster(rng);
    Clocks clocks;
    clocks.epoch = rng.between(0, 3600);
    clocks.epilog_delay = 0.3;
    clocks.launch_delay = 0.7;
    clocks.test_cost = round % 3 == 0 ? 0.05 : 0;
    const Outcome with_memory = simulate(scenario, clocks, {});
    const Outcome without_memory =
        simulate(scenario, clocks, {}, nullptr, {.remembers_answers = false});
    ASSERT_EQ(with_memory.start, without_memory.start);
    ASSERT_EQ(with_memory.end, without_memory.end);
    ASSERT_EQ(with_memory.nodes, without_memory.nodes);
    ASSERT_EQ(with_memory.cores, without_memory.cores);
    ASSERT_EQ(with_memory.scheduler, without_memory.scheduler);
    ASSERT_EQ(with_memory.restarts, without_memory.restarts);
    ASSERT_EQ(with_memory.cycle_times, without_memory.cycle_times);
    for (const int scheduler : with_memory.scheduler)
      if (scheduler == static_cast<int>(Scheduler::backfill)) ++starts_by_backfill;
  }
  EXPECT_GT(starts_by_backfill, 5000U);
}

// Jobs 1 and 2 wait for two months, with a seventh of the cycles.  What starts in the first week
// does so at the same time.
TEST(SlurmSimulator, AStartInTheDistantFutureTakesFewCycles) {
  constexpr double kDay = 86400;
  const Second limit = 60 * 86400;
  const Scenario scenario =
      scenario_of(plain_machine(3), {plain_job(0, 1, limit, 60 * kDay), plain_job(0, 3, 600, 300),
                                     plain_job(0, 3, 600, 300), plain_job(5 * kDay, 1, 600, 300)});
  Clocks exact_clocks;
  Clocks clocks;
  clocks.periods.distant_time = 7 * kDay;
  const Outcome exact = simulate(scenario, exact_clocks, {}), fast = simulate(scenario, clocks, {});
  EXPECT_GT(exact.cycle_times.size(), 80'000U);
  EXPECT_LT(fast.cycle_times.size(), exact.cycle_times.size() / 6);
  EXPECT_EQ(fast.start_exact[0], exact.start_exact[0]);
  EXPECT_EQ(fast.start_exact[3], exact.start_exact[3]);
  for (const int job : {1, 2}) {
    EXPECT_GE(exact.start_exact[job], 60 * kDay);
    EXPECT_NEAR(fast.start_exact[job], exact.start_exact[job], 1800);
  }
}

// What ends a run is that all that waits has been looked at, in the distant future too.
TEST(SlurmSimulator, ABackfilledJobOfTheDistantFutureStarts) {
  Clocks clocks;
  clocks.periods.distant_time = 0;
  // Job 1 waits for all nodes, and backfill alone starts job 2 in the meantime.
  const Scenario scenario = scenario_of(
      plain_machine(3),
      {plain_job(0, 2, 60000, 50000), plain_job(1, 3, 60000, 100), plain_job(20, 1, 600, 300)});
  const Outcome outcome = simulate(scenario, clocks, {});
  EXPECT_LT(outcome.start[2], 3700);
  EXPECT_GE(outcome.start[1], 50000);
}

TEST(SlurmSimulator, ALimitIsCheckedLate) {
  Clocks clocks;
  clocks.controller_start = -50;  // checks at -20, 10, 40, 70, ...
  const std::vector<Job> jobs{plain_job(0, 1, 60, 500)};
  const auto end = [&](double over_time) {
    const Scenario scenario = scenario_of(plain_machine(1), jobs, {{"OverTimeLimit", over_time}});
    const Outcome outcome = simulate(scenario, clocks, {});
    EXPECT_EQ(outcome.is_killed[0], over_time < 400);
    return outcome.end[0] - outcome.start[0];
  };
  EXPECT_EQ(end(0), 70);
  EXPECT_EQ(end(30), 100);
  EXPECT_EQ(end(kInfinity), 500);  // UNLIMITED
}

// It comes at 1, and a submission has to wait for batch_sched_delay behind it.
TEST(SlurmSimulator, TheRegistrationOfNodesAsksForAPass) {
  Clocks clocks;
  clocks.controller_start = -2;
  const Scenario scenario =
      scenario_of(plain_machine(1), {plain_job(2, 1, 60)}, {{"batch_sched_delay", 20}});
  EXPECT_EQ(simulate(scenario, clocks, {}).start[0], 21);
}

TEST(SlurmSimulator, AJobEndsAfterLaunchAndItsNodesAfterEpilog) {
  Clocks clocks;
  clocks.launch_delay = 2;
  clocks.epilog_delay = 5;
  const Scenario scenario =
      scenario_of(plain_machine(1), {plain_job(0, 1, 60, 10), plain_job(0, 1, 60, 10)});
  const Outcome outcome = simulate(scenario, clocks, {});
  EXPECT_EQ(outcome.end_exact[0] - outcome.start_exact[0], 12);
  EXPECT_EQ(outcome.start_exact[1] - outcome.end_exact[0], 5);  // the epilog asks for a pass
}

TEST(SlurmSimulator, NodesAreFreeWhenTheyWereRecordedToBe) {
  Clocks clocks;
  clocks.start_delays = {0.25, std::nan("")};
  clocks.epilog_delays = {7.5, std::nan("")};
  const Scenario scenario(plain_machine(1), {plain_job(0, 1, 60, 10), plain_job(0, 1, 60, 10)},
                          to_settings({{"Epilog", 1}}));
  const Outcome outcome = simulate(scenario, clocks, {});
  EXPECT_DOUBLE_EQ(outcome.start_exact[1] - outcome.end_exact[0], 7.5);
  EXPECT_DOUBLE_EQ(outcome.end_exact[0] - outcome.start_exact[0],
                   9.75);  // of which it waited to start
}

// The cycle of 30 looks at job 2, rests until 40, and looks at job 3; job 1 ends in between.
TEST(SlurmSimulator, OthersGoOnWhileACycleRests) {
  Clocks clocks;
  clocks.cycle_times = {30};
  clocks.slices = {{{.end_time = 32, .jobs_examined = 1, .resume_time = 40},
                    {.end_time = 41, .jobs_examined = 3, .resume_time = kEndOfQueue}}};
  const Scenario scenario =
      scenario_of(plain_machine(4), {plain_job(0, 2, 300, 250), plain_job(0, 2, 300, 33),
                                     plain_job(1, 3, 300, 50), plain_job(1, 2, 120, 20)});
  const Outcome outcome = simulate(scenario, clocks, {false, true});
  EXPECT_EQ(outcome.start[1], outcome.start[0]);
  Nodes planned;
  for (const DecisionNote& note : outcome.notes)
    if (note.action == Action::plan && note.time == 30) planned.push_back(note.job);
  EXPECT_EQ(planned, (Nodes{2, 3}));
  EXPECT_GT(outcome.start[3], 60);  // nodes that job 1 left while it rested are not for it
}

// Ticks are at 1.5, 2.5, ...: what waits for one starts there, what does not a fifth of a second
// behind an end.
TEST(SlurmSimulator, APassBehindAnEndWaitsForATickUnlessEpilogMessagesAskForIt) {
  Clocks clocks;
  clocks.controller_start = -0.5;
  clocks.epilog_delay = 0.2;
  const auto gap = [&](double runtime, double epilog) {
    const Scenario scenario(plain_machine(1),
                            {plain_job(0, 1, 60, runtime), plain_job(0, 1, 60, 10)},
                            to_settings({{"Epilog", epilog}}));
    const Outcome outcome = simulate(scenario, clocks, {});
    return outcome.start_exact[1] - outcome.end_exact[0];
  };
  EXPECT_DOUBLE_EQ(gap(10, 0), 1);       // ended by itself, at a tick
  EXPECT_NEAR(gap(10, 1), 0.2, 1e-9);    // with an Epilog
  EXPECT_NEAR(gap(1000, 0), 0.2, 1e-9);  // ended by a limit check
}

TEST(SlurmSimulator, ARecordedPassSoonBehindAStopIsWhatTheMessagesAskedFor) {
  Clocks clocks;
  clocks.epilog_delay = 0.2;
  clocks.main_passes = {{1.5, false}, {70.1, false}};
  clocks.limit_check_times = {70};
  const Scenario scenario =
      scenario_of(plain_machine(1), {plain_job(0, 1, 60, 1000), plain_job(0, 1, 60, 10)});
  EXPECT_DOUBLE_EQ(simulate(scenario, clocks, {}).start_exact[1], 70.1);
}

TEST(SlurmSimulator, ACycleTakesTimeForEachTestAndStart) {
  Clocks clocks;
  clocks.cycle_cost = 0.125;
  clocks.test_cost = 0.0625;
  clocks.start_cost = 0.03125;
  // The second waits for the first; the third starts beside that in a cycle.
  const Scenario scenario =
      scenario_of(plain_machine(2),
                  {plain_job(0, 1, 120, 100), plain_job(0, 2, 120, 40), plain_job(0, 1, 60, 40)});
  const std::vector<double> cycles = simulate(scenario, clocks, {}).cycle_times;
  ASSERT_GE(cycles.size(), 4);
  EXPECT_DOUBLE_EQ(cycles[1] - cycles[0], 30 + 0.125);  // nothing waited
  EXPECT_DOUBLE_EQ(cycles[2] - cycles[1], 30 + 0.125 + 2 * 0.0625 + 0.03125);
  EXPECT_DOUBLE_EQ(cycles[3] - cycles[2], 30 + 0.125 + 0.0625);
}

Outcome run_with(std::vector<Job> jobs, std::vector<AdminEvent> outside,
                 const std::map<std::string, double>& parameters = {},
                 Machine machine = plain_machine(4), std::vector<Reservation> reservations = {}) {
  const Scenario scenario(std::move(machine), std::move(jobs), to_settings(parameters),
                          std::move(reservations), std::move(outside));
  Clocks clocks;
  clocks.epilog_delay = 0.2;
  return simulate(scenario, clocks, {});
}

TEST(SlurmSimulator, AJobThatLosesANodeRunsAgainTwoMinutesLater) {
  std::vector<Job> jobs{plain_job(0, 2, 600, 300), plain_job(0, 1, 600, 300)};
  const AdminEvent down{.kind = AdminEvent::Kind::down, .time = 50, .nodes = nodes_from(0, 1, 4)};
  const Outcome delayed = run_with(jobs, {down});
  EXPECT_GE(delayed.start[0], 171);
  EXPECT_LE(delayed.start[0], 235);
  EXPECT_EQ(delayed.nodes[0], (Nodes{1, 3}));  // node 2 has job 1, node 0 is down
  jobs[0].can_requeue = false;
  const Outcome failed = run_with(jobs, {down});
  EXPECT_LT(failed.start[0], 10);
  EXPECT_EQ(failed.end[0], 50);
}

TEST(SlurmSimulator, OfSeveralThatLoseTheirNodesTheFirstSubmittedComesFirst) {
  const std::vector<Job> jobs{plain_job(0, 2, 900, 300), plain_job(0, 2, 400, 300)};
  const Outcome outcome =
      run_with(jobs, {{.kind = AdminEvent::Kind::down, .time = 50, .nodes = nodes_from(1, 3, 4)}},
               {{"since_24", 1}});
  EXPECT_EQ(outcome.nodes[0], (Nodes{0, 3}));  // what is left holds one of them
  EXPECT_GE(outcome.start[1], outcome.start[0] + 300);
}

TEST(SlurmSimulator, ANodeThatReturnsIsNotThereForThePassOfThatTick) {
  const Outcome outcome =
      run_with({plain_job(0, 4, 600, 10)},
               {{.kind = AdminEvent::Kind::drain, .time = -50, .nodes = nodes_from(0, 1, 4)},
                {.kind = AdminEvent::Kind::resume, .time = 500, .nodes = nodes_from(0, 1, 4)}},
               {{"builtin", 1}, {"batch_sched_delay", 0}});
  EXPECT_GE(outcome.start[0], 504);  // it is for one of the full passes
  EXPECT_LE(outcome.start[0], 562);
}

TEST(SlurmSimulator, ADrainedNodeEndsItsJobAndTakesNoOther) {
  const Outcome outcome =
      run_with({plain_job(0, 4, 600, 100), plain_job(10, 4, 600, 100)},
               {{.kind = AdminEvent::Kind::drain, .time = 50, .nodes = nodes_from(0, 1, 4)},
                {.kind = AdminEvent::Kind::resume, .time = 500, .nodes = nodes_from(0, 1, 4)}});
  EXPECT_EQ(outcome.end[0], outcome.start[0] + 100);
  EXPECT_GE(outcome.start[1], 500);
}

TEST(SlurmSimulator, JobsThatNeverStartDoNotKeepItFromAnEnd) {
  std::vector<Job> jobs{plain_job(0, 1, 60, 10), plain_job(5, 1, 60, 10)};
  jobs[1].conditions.is_held = true;
  EXPECT_TRUE(std::isnan(run_with(jobs, {}).start[1]));
  EXPECT_GE(run_with(jobs, {{.kind = AdminEvent::Kind::release, .time = 5000, .job = 1}}).start[1],
            5000);
  jobs[1].conditions = {};
  jobs[1].node_set = 0;  // no node has the feature: refused
  Machine machine = plain_machine(4);
  machine.node_sets = {NodeBits(4)};
  EXPECT_TRUE(std::isnan(run_with(jobs, {}, {}, machine).start[1]));
}

// It asks for no pass, but for a cycle: nothing else has changed since the last one.
TEST(SlurmSimulator, AJobThatIsRefusedIsMoreWork) {
  Machine machine = plain_machine(4);
  machine.node_sets = {NodeBits(4)};
  std::vector<Job> jobs{plain_job(0, 1, 600, 300)};
  const auto cycles = [&] {
    const std::vector<double> all = run_with(jobs, {}, {}, machine).cycle_times;
    return std::count_if(all.begin(), all.end(),
                         [](double begin) { return begin >= 90 && begin < 290; });
  };
  EXPECT_EQ(cycles(), 0);
  jobs.push_back(plain_job(100.5, 1, 60, 10));
  jobs[1].node_set = 0;  // no node has the feature
  EXPECT_EQ(cycles(), 1);
}

// The controller has looked every five seconds since -60: begins are seen up to five seconds late.
TEST(SlurmSimulator, AReservationAsksForAPassWhenItsBeginIsSeen) {
  std::vector<Job> jobs{plain_job(100, 1, 600, 50)};
  jobs[0].conditions.reservation = 0;
  const auto start = [&](Second begin) {
    const std::vector<Reservation> all{{-10, begin, 900, nodes_from(0, 2, 4)}};
    return run_with(jobs, {}, {{"builtin", 1}, {"sched_interval", 9999}}, plain_machine(4), all)
        .start[0];
  };
  EXPECT_EQ(start(200), 200);
  EXPECT_EQ(start(201), 205);
}

TEST(SlurmSimulator, JobsEndWithTheirReservation) {
  std::vector<Job> jobs{plain_job(100, 1, 600, 500)};
  jobs[0].conditions.reservation = 0;
  const std::vector<Reservation> all{
      {.created_at = -10, .begin = 200, .end = 400, .nodes = nodes_from(0, 2, 4)}};
  const Outcome outcome = run_with(jobs, {}, {}, plain_machine(4), all);
  EXPECT_GE(outcome.start[0], 200);
  EXPECT_GE(outcome.end[0], 400);
  EXPECT_LE(outcome.end[0], 431);
  EXPECT_EQ(outcome.is_killed[0], 1);
}

TEST(SlurmSimulator, TasksOfAnArrayAreSubmittedTogether) {
  Machine machine = plain_machine(4);
  machine.qos.resize(1);
  machine.qos[0].limits = {{Limit::Kind::user_submit, -1, 2}};
  for (const bool refused : {false, true}) {
    std::vector<Job> jobs(refused ? 3 : 2, plain_job(0, 1, 60));
    for (Job& job : jobs) {
      job.qos = 0;
      job.conditions.array = 0;
    }
    for (const double start : run_with(jobs, {}, {}, machine).start)
      EXPECT_EQ(std::isnan(start), refused);
  }
}

// One node of four cores; a job of the lower tier runs when one of the higher comes.
TEST(SlurmSimulator, WhoStandsStillEndsSoMuchLater) {
  std::vector<Job> jobs{shared_job(4, 600), shared_job(2, 600), shared_job(1, 600)};
  jobs[0].runtime = 100;
  jobs[1].submit = 40;
  jobs[1].runtime = 50;
  jobs[1].partition = jobs[2].partition = 1;
  jobs[2].submit = 60;
  jobs[2].runtime = 60;
  const Scenario scenario = suspending(tiers_of({4}, {1, 2}), jobs);
  Clocks clocks;
  clocks.launch_delay = 2;
  clocks.epilog_delay = 5;
  const Outcome outcome = simulate(scenario, clocks, {});
  EXPECT_NEAR(outcome.start_exact[1], 41, 1);
  EXPECT_NEAR(outcome.start_exact[2], 61, 1);
  ASSERT_EQ(outcome.pauses.size(), 1u);
  EXPECT_EQ(outcome.pauses[0].begin, outcome.start_exact[1]);
  EXPECT_EQ(outcome.pauses[0].end, outcome.end_exact[2] + 5);
  EXPECT_DOUBLE_EQ(outcome.end_exact[0] - outcome.start_exact[0],
                   102 + outcome.pauses[0].end - outcome.pauses[0].begin);
  EXPECT_EQ(outcome.core_ids[1], (Nodes{0, 1}));
  EXPECT_EQ(outcome.core_ids[2], Nodes{2});
}

// Jobs 0 and 1 stop for job 2, which has all cores, and job 2 for job 3, which has those of job 0:
// job 1 goes on, and would stop again at 121, when the last node of job 3 is clean.
TEST(SlurmSimulator, WhoEndsInTheInstantInWhichItWouldStopHasEnded) {
  std::vector<Job> jobs{shared_job(2, 600), shared_job(2, 600), shared_job(4, 600),
                        shared_job(2, 600)};
  jobs[0].runtime = 200;
  jobs[1].runtime = 100;
  jobs[2].submit = 40;
  jobs[2].runtime = 50;
  jobs[2].partition = 1;
  jobs[3].submit = 60;
  jobs[3].runtime = 55;
  jobs[3].partition = 2;
  Clocks clocks;
  clocks.epilog_delay = 5;
  clocks.main_passes = {{1, true}, {41, true}, {61, true}};
  clocks.cycle_times = {900};
  const Outcome outcome = simulate(suspending(tiers_of({4}, {1, 2, 3}), jobs), clocks, {});
  EXPECT_EQ(outcome.end_exact[3] + clocks.epilog_delay, 121);
  EXPECT_EQ(outcome.end_exact[1], 121);  // 40 s until 41, 60 s from 61 on
  EXPECT_EQ(std::count_if(outcome.pauses.begin(), outcome.pauses.end(),
                          [](const Pause& pause) { return pause.job == 1; }),
            1);
}

// At 50 job 0 ends and is clean, its limit is checked, job 1 comes, and a cycle begins; ticks are
// between the seconds.
TEST(SlurmSimulator, InOneInstantAnEndASubmissionAPassAndAtLastACycle) {
  const Scenario scenario =
      scenario_of(plain_machine(1), {plain_job(0, 1, 49, 49), plain_job(50, 1, 60)});
  Clocks clocks;
  clocks.controller_start = -60.5;
  clocks.limit_check_times = clocks.cycle_times = {50};
  for (const bool pass : {false, true}) {
    clocks.main_passes = {{1, true}};
    if (pass) clocks.main_passes.emplace_back(50, true);
    const Outcome outcome = simulate(scenario, clocks, {});
    EXPECT_EQ(outcome.end_exact[0], 50);
    EXPECT_FALSE(outcome.is_killed[0]);
    EXPECT_EQ(outcome.start_exact[1], 50);
    EXPECT_EQ(outcome.scheduler[1] == static_cast<int>(Scheduler::main), pass);
  }
}

// Of what has been simulated, nobody runs on a core of another, and each runs as long as it does.
TEST(SlurmSimulator, OfTiersNobodySharesACore) {
  Rng rng(11);
  int pauses = 0;
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    std::vector<Job> jobs;
    for (int job = 0; job < 30; ++job) {
      jobs.push_back(shared_job(static_cast<int>(rng.between(1, 7)), 60 * rng.between(1, 9)));
      jobs.back().submit = 20 * job;
      jobs.back().runtime = static_cast<double>(rng.below(400));
      jobs.back().partition = static_cast<int>(rng.below(3));
    }
    const Scenario scenario = suspending(tiers_of({4, 2, 4}, {1, 2, 3}), jobs);
    const Outcome outcome = simulate(scenario, Clocks(), {});
    struct Piece {
      double from, until;
      Nodes cores;
    };
    std::vector<Piece> pieces;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      double from = outcome.start_exact[job], run_time = 0;
      for (const Pause& pause : outcome.pauses)
        if (static_cast<std::size_t>(pause.job) == job) {
          pieces.push_back({from, pause.begin, outcome.core_ids[job]});
          run_time += pause.begin - from;
          from = pause.end;
          ++pauses;
        }
      pieces.push_back({from, outcome.end_exact[job], outcome.core_ids[job]});
      run_time += outcome.end_exact[job] - from;
      if (outcome.is_killed[job]) {
        EXPECT_GE(run_time, static_cast<double>(jobs[job].limit) - 1);
      } else {
        EXPECT_NEAR(run_time, jobs[job].runtime + Clocks().launch_delay, 1e-6);
      }
    }
    for (const Piece& a : pieces)
      for (const Piece& b : pieces) {
        if (&a == &b || a.from >= b.until || b.from >= a.until) continue;
        for (const int core : a.cores)
          EXPECT_EQ(std::count(b.cores.begin(), b.cores.end(), core), 0);
      }
  }
  EXPECT_GT(pauses, 50);
}

}  // namespace
}  // namespace cosched::slurm
