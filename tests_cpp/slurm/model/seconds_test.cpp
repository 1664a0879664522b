#include "cosched/slurm/model/seconds.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmSeconds, EveryNumberHasASecond) {
  EXPECT_EQ(whole(2.9), 2);
  EXPECT_EQ(whole(-0.1), -1);
  for (const double late : {1e300, static_cast<double>(std::numeric_limits<double>::infinity()),
                            std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(whole(late), kNever);
    EXPECT_EQ(length_of(late), kNever);
  }
  EXPECT_EQ(whole(-1e300), -kNever);
}

}  // namespace
}  // namespace cosched::slurm
