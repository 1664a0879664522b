#include "cosched/slurm/clocks/recorded_main_clock.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"

namespace cosched::slurm {
namespace {

// Ticks at whole seconds; nothing takes time.
TEST(SlurmRecordedMainClock, RecordedPassesComeFirst) {
  Clocks clocks = exact_clocks();
  clocks.main_passes = {{5, false}, {9, true}};
  RecordedMainClock clock(clocks, main_settings());
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

TEST(SlurmRecordedMainClock, ARecordedPassThatComesSoonIsWhereTheTickWas) {
  Clocks clocks = exact_clocks();
  clocks.main_passes = {{5.4, false}, {20, false}};
  RecordedMainClock clock(clocks, main_settings());
  EXPECT_EQ(clock.next_tick(4.8), 5.4);
  EXPECT_EQ(clock.next_tick(2), 2);
  EXPECT_EQ(clock.recorded_pass_time(), 5.4);
}

}  // namespace
}  // namespace cosched::slurm
