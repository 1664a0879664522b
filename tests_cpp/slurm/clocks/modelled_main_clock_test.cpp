#include "cosched/slurm/clocks/modelled_main_clock.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"

namespace cosched::slurm {
namespace {

// Ticks at whole seconds; nothing takes time.
TEST(SlurmModelledMainClock, RequestsWaitForATickBehindTheDelay) {
  ModelledMainClock clock(exact_clocks(), main_settings());
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

TEST(SlurmModelledMainClock, PassesAskedTooSoonComeLaterAsOne) {
  Settings::Main settings = main_settings();
  settings.min_interval = 2;
  ModelledMainClock clock(exact_clocks(), settings);
  clock.request_now(20, false);
  EXPECT_EQ(clock.next_pass_time(), 20);
  clock.begin_pass();
  clock.request_now(21, false);
  clock.request_now(21.5, true);
  EXPECT_EQ(clock.next_pass_time(), 22);
  EXPECT_TRUE(clock.begin_pass());
  EXPECT_EQ(clock.next_pass_time(), kInfinity);
}

TEST(SlurmModelledMainClock, FullPassesOfTheDistantFutureAreRare) {
  Clocks clocks = exact_clocks();
  clocks.periods.distant_time = 60;
  ModelledMainClock clock(clocks, main_settings());
  clock.on_tick(100);
  clock.begin_pass();
  EXPECT_EQ(clock.next_requesting_tick(), 1900);
  clock.request_at_tick(150);  // what asks for a pass gets it as soon as ever
  EXPECT_EQ(clock.next_requesting_tick(), 150);
}

}  // namespace
}  // namespace cosched::slurm
