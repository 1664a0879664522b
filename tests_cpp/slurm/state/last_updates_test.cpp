#include "cosched/slurm/state/last_updates.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmLastUpdates, AChangeOfJobsOrNodesInThatSecondOrLaterIsMoreWork) {
  LastUpdates updates{10, 10};
  EXPECT_TRUE(updates.has_changed_since(10));
  EXPECT_FALSE(updates.has_changed_since(11));
  updates.last_job_update = 20;
  EXPECT_TRUE(updates.has_changed_since(20));
  updates.last_node_update = 30;
  EXPECT_TRUE(updates.has_changed_since(30));
  EXPECT_FALSE(updates.has_changed_since(31));
  updates.mark_both(40);
  EXPECT_EQ(updates.last_job_update, 40);
  EXPECT_EQ(updates.last_node_update, 40);
}

}  // namespace
}  // namespace cosched::slurm
