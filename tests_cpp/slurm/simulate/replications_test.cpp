#include "cosched/slurm/simulate/replications.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/slurm/simulate/simulator.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Two jobs that are there, and two that others are like.
Scenario with_likes() {
  std::vector<Job> jobs{plain_job(0, 3, 600, 300), plain_job(5, 4, 600, 60),
                        plain_job(0, 2, 120, 50), plain_job(0, 4, 60, 500)};
  Machine machine = plain_machine(4);
  machine.partitions[0].min_nodes = 3;  // all are bounded
  return scenario_of(std::move(machine), std::move(jobs));
}

Replication future_of(double start, std::vector<Arrival> coming) {
  Replication future;
  future.clocks.controller_start = start;
  future.arrivals = std::move(coming);
  return future;
}

TEST(SlurmFutures, EachIsTheRunOfItsOwnScenario) {
  const Scenario scenario = with_likes();
  std::vector<Replication> futures;
  for (int k = 0; k < 20; ++k)
    futures.push_back(future_of(-50 + k, {{2, 10.0 * k, 30}, {3, 40, 1000}}));
  futures.push_back(future_of(-50, {}));
  futures.back().clocks.run_lengths = {100, 20};
  int last_count = 0;
  const ReplicationTable runs = simulate_all(scenario, 2, futures, 3, [&](int completed_runs) {
    EXPECT_GE(completed_runs, last_count);
    last_count = completed_runs;
  });
  EXPECT_EQ(last_count, 21);
  ASSERT_EQ(runs.start_times.cols(), 2);
  for (int k = 0; k < 20; ++k) {
    std::vector<Job> jobs{scenario.job(0), scenario.job(1), scenario.job(2), scenario.job(3)};
    jobs[2].submit = 10.0 * k;
    jobs[3].submit = 40;
    Clocks clocks = futures[static_cast<std::size_t>(k)].clocks;
    clocks.run_lengths = {std::nan(""), std::nan(""), 30, 1000};
    Machine machine = scenario.machine();
    const Outcome alone = simulate(scenario_of(std::move(machine), jobs), clocks, {});
    EXPECT_EQ(runs.start_times(k, 0), alone.start[0]);
    EXPECT_EQ(runs.start_times(k, 1), alone.start[1]);
  }
  EXPECT_EQ(runs.start_times(20, 0), 0);
  EXPECT_EQ(runs.start_times(20, 1), 100);
}

TEST(SlurmFutures, TellsWhatTheLimitCheckEnded) {
  const Scenario scenario = scenario_of(plain_machine(1), {plain_job(0, 1, 60, 500)});
  const ReplicationTable runs = simulate_all(scenario, 1, {future_of(-50, {})}, 2, {});
  const Outcome alone = simulate(scenario, future_of(-50, {}).clocks, {});
  EXPECT_EQ(runs.kill_times(0, 0), alone.end[0]);
  EXPECT_TRUE(
      std::isnan(simulate_all(with_likes(), 2, {future_of(-50, {})}, 1, {}).kill_times(0, 0)));
}

TEST(SlurmFutures, ATimeLimitEndsThemAll) {
  std::vector<Job> jobs;
  for (int k = 0; k < 3000; ++k) jobs.push_back(plain_job(k, 1 + k % 4, 6000, 3000));
  const Scenario scenario = scenario_of(plain_machine(4), std::move(jobs));
  const std::vector<Replication> futures(50, future_of(-50, {}));
  EXPECT_FALSE(finishes_within(0.01, [&] { simulate_all(scenario, 3000, futures, 2, {}); }));
}

TEST(SlurmFutures, WhatTheProgressThrowsEndsThemAll) {
  const Scenario scenario = with_likes();
  const std::vector<Replication> futures(5, future_of(-50, {}));
  EXPECT_THROW(simulate_all(scenario, 2, futures, 2, [](int) { throw InvalidInstance("no"); }),
               InvalidInstance);
}

}  // namespace
}  // namespace cosched::slurm
