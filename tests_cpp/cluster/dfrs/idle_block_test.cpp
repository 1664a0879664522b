#include "cosched/cluster/dfrs/idle_block.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster::dfrs {
namespace {

// Ranks of the block's jobs with at least that priority, in the block's order.
std::vector<int> ranks_above(const IdleBlock& block, double now, double min_priority,
                             const PrioritisedJob& predecessor = kBeforeAllJobs) {
  std::vector<PrioritisedJob> jobs;
  block.append_jobs(now, min_priority, predecessor, 0, jobs);
  std::vector<int> ranks;
  for (const PrioritisedJob& job : jobs) ranks.push_back(job.rank);
  return ranks;
}

// The example of priority_bound.hpp: which jobs have at least 150, and which blocks are looked
// into.
TEST(IdleBlock, ABoundHasThePriorityOfOneJobAndTheRateOfAnother) {
  IdleBlock block_a;
  const PriorityBound bound_of_job_1 = block_a.add(1, 90, 0.5, {});
  block_a.add(0, 0, 1, bound_of_job_1);
  IdleBlock block_b;
  block_b.add(2, 20, 1, {});
  const PriorityBound bound_a = block_a.compute_bound(100);
  const PriorityBound bound_b = block_b.compute_bound(100);
  EXPECT_EQ(bound_a.greatest_priority, 100);  // job 0
  EXPECT_EQ(bound_a.greatest_rate, 4);        // job 1
  EXPECT_EQ(bound_b.greatest_priority, 80);
  EXPECT_EQ(bound_b.greatest_rate, 1);
  EXPECT_LT(bound_a.at(110), 150);  // skipped
  EXPECT_GE(bound_a.at(120), 150);  // too high: computed anew
  EXPECT_EQ(ranks_above(block_a, 120, 150), std::vector<int>{});
  const PriorityBound new_bound_a = block_a.compute_bound(120);
  EXPECT_EQ(new_bound_a.greatest_priority, 120);
  EXPECT_LT(new_bound_a.at(120), 150);  // skipped
  EXPECT_GE(new_bound_a.at(130), 150);  // job 1 has passed job 0, which had the greatest priority
  EXPECT_EQ(ranks_above(block_a, 130, 150), std::vector<int>{1});
  EXPECT_LT(bound_b.at(130), 150);
  EXPECT_LT(priority_at(130, 0, 1), 150);
}

TEST(IdleBlock, JobsServedBeforeThePredecessorAreSkipped) {
  IdleBlock block;
  PriorityBound bound;
  for (const int rank : {5, 3, 4}) bound = block.add(rank, 0, 1, bound);  // equal priorities
  block.add(6, 0, 2, bound);
  const PrioritisedJob predecessor{.priority = 10, .rank = 3};
  EXPECT_EQ(ranks_above(block, 10, 10, predecessor), (std::vector<int>{5, 4}));
  block.remove(0);  // the last job gets its position
  EXPECT_EQ(ranks_above(block, 10, 0), (std::vector<int>{6, 3, 4}));
}

}  // namespace
}  // namespace cosched::cluster::dfrs
