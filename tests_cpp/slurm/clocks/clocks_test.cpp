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
  EXPECT_EQ(clocks.round_down(10, 60), 10);
  EXPECT_EQ(clocks.round_down(69, 60), 10);
  EXPECT_EQ(clocks.round_down(70, 60), 70);
  EXPECT_EQ(clocks.round_down(9, 60), -50);
}

TEST(SlurmClocks, LoopTicksFromItsStart) {
  Clocks clocks;
  clocks.controller_start = -10;
  clocks.tick_offset = 0.5;
  clocks.tick_period = 2;
  const BackgroundLoop loop(clocks, false);  // -7.5, -5.5, ...
  EXPECT_EQ(loop.tick_at(-100), -7.5);
  EXPECT_EQ(loop.tick_at(-7.5), -7.5);
  EXPECT_EQ(loop.tick_at(-7.4), -5.5);
}

TEST(SlurmClocks, LimitsAreCheckedEvery30Seconds) {
  Clocks clocks = exact();
  clocks.tick_period = 7;
  LimitClock clock(clocks, false);
  EXPECT_EQ(clock.next_check_time(), 35);  // the first tick from 30 on
  clock.on_check(35);
  EXPECT_EQ(clock.next_check_time(), 70);
  clocks.limit_check_times = {12, 80};
  LimitClock replay(clocks, false);
  EXPECT_EQ(replay.next_check_time(), 12);
  replay.on_check(12);
  EXPECT_EQ(replay.next_check_time(), 80);
  replay.on_check(80);
  EXPECT_EQ(replay.next_check_time(), kInfinity);
}

Settings::Main main_settings() {
  return to_settings({{"batch_sched_delay", 10}, {"sched_interval", 100}}).main;
}

TEST(SlurmClocks, RequestsWaitForATickBehindTheDelay) {
  MainClock clock(exact(), main_settings());
  EXPECT_EQ(clock.next_requesting_tick(), 60);  // full: the configuration is not read yet
  clock.request_at_tick(0.5);
  EXPECT_EQ(clock.next_requesting_tick(), 3);
  clock.on_tick(3);
  EXPECT_EQ(clock.next_pass_time(), 3);
  EXPECT_FALSE(clock.begin_pass());
  EXPECT_EQ(clock.next_pass_time(), kInfinity);
  EXPECT_EQ(clock.next_requesting_tick(), 100);
  clock.request_at_tick(4);
  EXPECT_EQ(clock.next_requesting_tick(), 13);  // 10 s after the last
  clock.on_tick(13);
  clock.begin_pass();
  clock.request_at_tick(50.2);
  EXPECT_EQ(clock.next_requesting_tick(), 51);
  clock.on_tick(51);
  clock.begin_pass();
  clock.on_tick(100);
  EXPECT_TRUE(clock.begin_pass());  // the full one
  EXPECT_EQ(clock.next_requesting_tick(), 200);
}

TEST(SlurmClocks, PassesAskedTooSoonComeLaterAsOne) {
  Settings::Main settings = main_settings();
  settings.min_interval = 2;
  MainClock clock(exact(), settings);
  clock.request_now(20, false);
  EXPECT_EQ(clock.next_pass_time(), 20);
  clock.begin_pass();
  clock.request_now(21, false);
  clock.request_now(21.5, true);
  EXPECT_EQ(clock.next_pass_time(), 22);
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.next_pass_time(), kInfinity);
}

TEST(SlurmClocks, CyclesWaitForIntervalCompletionAndWork) {
  Clocks clocks = exact();
  BackfillClock clock(clocks, 30);
  EXPECT_EQ(clock.wake_time(), 30);
  EXPECT_FALSE(clock.should_begin_cycle(true, true, 1000));  // completing
  EXPECT_EQ(clock.wake_time(), 31);
  EXPECT_FALSE(clock.should_begin_cycle(false, false, 40.5));  // no work before 40.5
  EXPECT_EQ(clock.wake_time(), 41);
  EXPECT_TRUE(clock.should_begin_cycle(false, true, 1000));
  clock.on_cycle_end(2);
  EXPECT_EQ(clock.last_cycle_end(), 43);
  EXPECT_EQ(clock.wake_time(), 73);
  clocks.sleep_extra = -0.5;  // awake too early
  BackfillClock early(clocks, 30);
  EXPECT_FALSE(early.should_begin_cycle(false, true, 1000));
  EXPECT_EQ(early.wake_time(), 30.5);
}

TEST(SlurmClocks, PeriodsOfTheDistantFutureAreHalfAnHour) {
  Clocks clocks = exact();
  clocks.periods.distant_time = 60;
  EXPECT_EQ(clocks.periods.after(59, 30), 30);
  EXPECT_EQ(clocks.periods.after(60, 30), 1800);
  EXPECT_EQ(clocks.periods.after(60, 7200), 7200);
  LimitClock checks(clocks, false);
  EXPECT_EQ(checks.next_check_time(), 30);
  checks.on_check(60);
  EXPECT_EQ(checks.next_check_time(), 1860);
  MainClock passes(clocks, main_settings());
  passes.on_tick(100);
  passes.begin_pass();
  EXPECT_EQ(passes.next_requesting_tick(), 1900);
  passes.request_at_tick(150);  // what asks for a pass gets it as soon as ever
  EXPECT_EQ(passes.next_requesting_tick(), 150);
  BackfillClock cycles(clocks, 30);
  cycles.on_cycle_end(0);
  EXPECT_EQ(cycles.wake_time(), 60);
  cycles.on_cycle_end(0);
  EXPECT_EQ(cycles.wake_time(), 1860);
}

TEST(SlurmClocks, RecordedCyclesComeFirst) {
  Clocks clocks = exact();
  clocks.cycle_times = {5, 9};
  BackfillClock clock(clocks, 30);
  EXPECT_EQ(clock.wake_time(), 5);
  EXPECT_TRUE(clock.should_begin_cycle(true, false, 1000));
  clock.on_cycle_end(0);
  EXPECT_EQ(clock.wake_time(), 9);
  clock.on_cycle_end(0);
  EXPECT_EQ(clock.wake_time(), 39);
  EXPECT_FALSE(clock.should_begin_cycle(true, true, 1000));
}

TEST(SlurmClocks, RecordedPassesComeFirst) {
  Clocks clocks = exact();
  clocks.main_passes = {{5, false}, {9, true}};
  MainClock clock(clocks, main_settings());
  clock.request_at_tick(1);
  EXPECT_EQ(clock.next_requesting_tick(), kInfinity);
  EXPECT_EQ(clock.next_pass_time(), 5);
  EXPECT_FALSE(clock.begin_pass());
  clock.request_now(4.5, false);  // what came too late for the recorded pass has one of its own
  EXPECT_EQ(clock.next_pass_time(), 8.5);
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.next_pass_time(), 9);
  clock.request_now(8.7, false);  // in time
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.next_pass_time(), kInfinity);
  EXPECT_EQ(clock.next_requesting_tick(), 109);  // by the rules, from the last full one
}

TEST(SlurmClocks, Since24TheLoopTicksAtTheTurnsOfSeconds) {
  Clocks clocks = exact();
  clocks.controller_start = -7.6;
  clocks.tick_period = 1.5;
  const BackgroundLoop loop(clocks, true);
  EXPECT_DOUBLE_EQ(loop.tick_at(-100), -6.995);  // the first
  EXPECT_DOUBLE_EQ(loop.tick_at(3.2), 4.005);
  EXPECT_DOUBLE_EQ(loop.tick_at(4.005), 4.005);
}

}  // namespace
}  // namespace cosched::slurm
