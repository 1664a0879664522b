#include <gtest/gtest.h>

#include "cosched/cluster/dfrs/idle_queue.hpp"

namespace cosched::cluster::dfrs {
namespace {

std::vector<int> ranks_of(const std::vector<Prioritised>& jobs) {
  std::vector<int> ranks;
  for (const Prioritised& job : jobs) ranks.push_back(job.rank);
  return ranks;
}

// The example of the header: who has at least 150, and which blocks are looked into.
TEST(IdleBlock, ALineHasTheTopOfOneJobAndTheRateOfAnother) {
  IdleBlock a, b;
  a.add(0, 0, 1, a.add(1, 90, 0.5, {}));
  b.add(2, 20, 1, {});
  const Line first = a.line(100), of_b = b.line(100);
  EXPECT_EQ(first.top, 100);  // job 0
  EXPECT_EQ(first.rate, 4);   // job 1
  EXPECT_EQ(of_b.top, 80);
  EXPECT_EQ(of_b.rate, 1);
  EXPECT_LT(first.at(110), 150);  // skipped
  EXPECT_GE(first.at(120), 150);  // too high: found anew
  EXPECT_EQ(ranks_of(a.append({}, 120, 150, kBeforeAll, 0)), std::vector<int>{});
  const Line second = a.line(120);
  EXPECT_EQ(second.top, 120);
  EXPECT_LT(second.at(120), 150);  // skipped
  EXPECT_GE(second.at(130), 150);  // job 1 has passed job 0, which was on top
  EXPECT_EQ(ranks_of(a.append({}, 130, 150, kBeforeAll, 0)), std::vector<int>{1});
  EXPECT_LT(of_b.at(130), 150);
  EXPECT_LT(priority_at(130, 0, 1), 150);
}

TEST(IdleBlock, AppendGoesOnBehindTheLastServed) {
  IdleBlock block;
  Line line;
  for (const int rank : {5, 3, 4}) line = block.add(rank, 0, 1, line);  // equal priorities
  line = block.add(6, 0, 2, line);
  EXPECT_EQ(ranks_of(block.append({{9, 0}}, 10, 10, {10, 3}, 0)), (std::vector<int>{0, 5, 4}));
  block.remove(0);  // the last takes its position
  EXPECT_EQ(ranks_of(block.append({}, 10, 0, kBeforeAll, 0)), (std::vector<int>{6, 3, 4}));
}

}  // namespace
}  // namespace cosched::cluster::dfrs
