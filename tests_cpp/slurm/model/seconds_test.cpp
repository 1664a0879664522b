#include "cosched/slurm/model/seconds.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmSeconds, EveryNumberHasASecond) {
  EXPECT_EQ(to_second(2.9), 2);
  EXPECT_EQ(to_second(-0.1), -1);
  for (const double late_time :
       {1e300, static_cast<double>(std::numeric_limits<double>::infinity()),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(to_second(late_time), kNever);
    EXPECT_EQ(to_duration(late_time), kNever);
  }
  EXPECT_EQ(to_second(-1e300), -kNever);
}

}  // namespace
}  // namespace cosched::slurm
