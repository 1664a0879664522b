#include "cosched/slurm/clocks/clocks.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

Clocks exact() {  // ticks at whole seconds, nothing takes time
  Clocks clocks;
  clocks.controller_start = 0;
  return clocks;
}

TEST(SlurmClocks, RoundsDownOnTheUnixClock) {
  Clocks clocks;
  clocks.epoch = 1'000'000'010;  // 50 s behind a multiple of 60
  EXPECT_EQ(clocks.rounded(10, 60), 10);
  EXPECT_EQ(clocks.rounded(69, 60), 10);
  EXPECT_EQ(clocks.rounded(70, 60), 70);
  EXPECT_EQ(clocks.rounded(9, 60), -50);
}

TEST(SlurmClocks, LoopTicksFromItsStart) {
  Clocks clocks;
  clocks.controller_start = -10;
  clocks.tick_offset = 0.5;
  clocks.tick_period = 2;
  const Loop loop(clocks, false);  // -7.5, -5.5, ...
  EXPECT_EQ(loop.tick_at(-100), -7.5);
  EXPECT_EQ(loop.tick_at(-7.5), -7.5);
  EXPECT_EQ(loop.tick_at(-7.4), -5.5);
}

TEST(SlurmClocks, LimitsAreCheckedEvery30Seconds) {
  Clocks clocks = exact();
  clocks.tick_period = 7;
  LimitClock clock(clocks, false);
  EXPECT_EQ(clock.due(), 35);  // the first tick from 30 on
  clock.checked(35);
  EXPECT_EQ(clock.due(), 70);
  clocks.checks = {12, 80};
  LimitClock replay(clocks, false);
  EXPECT_EQ(replay.due(), 12);
  replay.checked(12);
  EXPECT_EQ(replay.due(), 80);
  replay.checked(80);
  EXPECT_EQ(replay.due(), kInfinity);
}

Settings::Main main_settings() {
  return to_settings({{"batch_sched_delay", 10}, {"sched_interval", 100}}).main;
}

TEST(SlurmClocks, RequestsWaitForATickBehindTheDelay) {
  MainClock clock(exact(), main_settings());
  EXPECT_EQ(clock.tick_due(), 60);  // full: the configuration is not read yet
  clock.request(0.5);
  EXPECT_EQ(clock.tick_due(), 3);
  clock.tick(3);
  EXPECT_EQ(clock.pass_due(), 3);
  EXPECT_FALSE(clock.begin_pass());
  EXPECT_EQ(clock.pass_due(), kInfinity);
  EXPECT_EQ(clock.tick_due(), 100);
  clock.request(4);
  EXPECT_EQ(clock.tick_due(), 13);  // 10 s after the last
  clock.tick(13);
  clock.begin_pass();
  clock.request(50.2);
  EXPECT_EQ(clock.tick_due(), 51);
  clock.tick(51);
  clock.begin_pass();
  clock.tick(100);
  EXPECT_TRUE(clock.begin_pass());  // the full one
  EXPECT_EQ(clock.tick_due(), 200);
}

TEST(SlurmClocks, PassesAskedTooSoonComeLaterAsOne) {
  Settings::Main settings = main_settings();
  settings.min_interval = 2;
  MainClock clock(exact(), settings);
  clock.ask(20, false);
  EXPECT_EQ(clock.pass_due(), 20);
  clock.begin_pass();
  clock.ask(21, false);
  clock.ask(21.5, true);
  EXPECT_EQ(clock.pass_due(), 22);
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.pass_due(), kInfinity);
}

TEST(SlurmClocks, CyclesWaitForIntervalCompletionAndWork) {
  Clocks clocks = exact();
  BackfillClock clock(clocks, 30);
  EXPECT_EQ(clock.wakes_at(), 30);
  EXPECT_FALSE(clock.begins_cycle(true, true, 1000));  // completing
  EXPECT_EQ(clock.wakes_at(), 31);
  EXPECT_FALSE(clock.begins_cycle(false, false, 40.5));  // no work before 40.5
  EXPECT_EQ(clock.wakes_at(), 41);
  EXPECT_TRUE(clock.begins_cycle(false, true, 1000));
  clock.cycle_over(2);
  EXPECT_EQ(clock.last_end(), 43);
  EXPECT_EQ(clock.wakes_at(), 73);
  clocks.sleep_extra = -0.5;  // awake too early
  BackfillClock early(clocks, 30);
  EXPECT_FALSE(early.begins_cycle(false, true, 1000));
  EXPECT_EQ(early.wakes_at(), 30.5);
}

TEST(SlurmClocks, PeriodsOfTheDistantFutureAreHalfAnHour) {
  Clocks clocks = exact();
  clocks.periods.distant_time = 60;
  EXPECT_EQ(clocks.periods.after(59, 30), 30);
  EXPECT_EQ(clocks.periods.after(60, 30), 1800);
  EXPECT_EQ(clocks.periods.after(60, 7200), 7200);
  LimitClock checks(clocks, false);
  EXPECT_EQ(checks.due(), 30);
  checks.checked(60);
  EXPECT_EQ(checks.due(), 1860);
  MainClock passes(clocks, main_settings());
  passes.tick(100);
  passes.begin_pass();
  EXPECT_EQ(passes.tick_due(), 1900);
  passes.request(150);  // what asks for a pass gets it as soon as ever
  EXPECT_EQ(passes.tick_due(), 150);
  BackfillClock cycles(clocks, 30);
  cycles.cycle_over(0);
  EXPECT_EQ(cycles.wakes_at(), 60);
  cycles.cycle_over(0);
  EXPECT_EQ(cycles.wakes_at(), 1860);
}

TEST(SlurmClocks, RecordedCyclesComeFirst) {
  Clocks clocks = exact();
  clocks.cycles = {5, 9};
  BackfillClock clock(clocks, 30);
  EXPECT_EQ(clock.wakes_at(), 5);
  EXPECT_TRUE(clock.begins_cycle(true, false, 1000));
  clock.cycle_over(0);
  EXPECT_EQ(clock.wakes_at(), 9);
  clock.cycle_over(0);
  EXPECT_EQ(clock.wakes_at(), 39);
  EXPECT_FALSE(clock.begins_cycle(true, true, 1000));
}

TEST(SlurmClocks, RecordedPassesComeFirst) {
  Clocks clocks = exact();
  clocks.passes = {{5, false}, {9, true}};
  MainClock clock(clocks, main_settings());
  clock.request(1);
  EXPECT_EQ(clock.tick_due(), kInfinity);
  EXPECT_EQ(clock.pass_due(), 5);
  EXPECT_FALSE(clock.begin_pass());
  clock.ask(4.5, false);  // what came too late for the recorded pass has one of its own
  EXPECT_EQ(clock.pass_due(), 8.5);
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.pass_due(), 9);
  clock.ask(8.7, false);  // in time
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.pass_due(), kInfinity);
  EXPECT_EQ(clock.tick_due(), 109);  // by the rules, from the last full one
}

TEST(SlurmClocks, Since24TheLoopTicksAtTheTurnsOfSeconds) {
  Clocks clocks = exact();
  clocks.controller_start = -7.6;
  clocks.tick_period = 1.5;
  const Loop loop(clocks, true);
  EXPECT_DOUBLE_EQ(loop.tick_at(-100), -6.995);  // the first
  EXPECT_DOUBLE_EQ(loop.tick_at(3.2), 4.005);
  EXPECT_DOUBLE_EQ(loop.tick_at(4.005), 4.005);
}

}  // namespace
}  // namespace cosched::slurm
