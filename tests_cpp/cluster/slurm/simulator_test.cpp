#include "cosched/cluster/slurm/simulator.hpp"

#include <gtest/gtest.h>

#include "cosched/core/numeric.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::cluster::slurm {
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
    const Scenario scenario =
        scenario_of(plain_machine(8), random_stream(rng, 40, 8), parameters[round % 5]);
    Clocks clocks;
    clocks.epoch = rng.between(0, 3600);
    clocks.epilog = 0.3;
    clocks.launch = 0.7;
    const Outcome brief = simulate(scenario, clocks, {}),
                  told = simulate(scenario, clocks, {true, false});
    EXPECT_EQ(brief.start_exact, told.start_exact);
    EXPECT_EQ(brief.end_exact, told.end_exact);
    EXPECT_EQ(brief.nodes, told.nodes);
    EXPECT_EQ(brief.cycles, told.cycles);
    spared += static_cast<int>(told.cycles.size());
  }
  EXPECT_GT(spared, 1000);
}

TEST(SlurmSimulator, ALimitIsCheckedLate) {
  Clocks clocks;
  clocks.controller_start = -50;  // checks at -20, 10, 40, 70, ...
  const std::vector<Job> jobs{plain_job(0, 1, 60, 500)};
  const auto end = [&](double over_time) {
    const Scenario scenario = scenario_of(plain_machine(1), jobs, {{"OverTimeLimit", over_time}});
    const Outcome outcome = simulate(scenario, clocks, {});
    EXPECT_EQ(outcome.killed[0], over_time < 400);
    return outcome.end[0] - outcome.start[0];
  };
  EXPECT_EQ(end(0), 70);
  EXPECT_EQ(end(30), 100);
  EXPECT_EQ(end(kInfinity), 500);  // UNLIMITED
}

TEST(SlurmSimulator, AJobEndsAfterLaunchAndItsNodesAfterEpilog) {
  Clocks clocks;
  clocks.launch = 2;
  clocks.epilog = 5;
  const Scenario scenario =
      scenario_of(plain_machine(1), {plain_job(0, 1, 60, 10), plain_job(0, 1, 60, 10)});
  const Outcome outcome = simulate(scenario, clocks, {});
  EXPECT_EQ(outcome.end_exact[0] - outcome.start_exact[0], 12);
  EXPECT_EQ(outcome.start_exact[1] - outcome.end_exact[0], 5);  // the epilog asks for a pass
}

}  // namespace
}  // namespace cosched::cluster::slurm
