#include "cosched/cluster/dfrs/service_order.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster::dfrs {
namespace {

// Shapes that find no room any more are left out of the parts to come.
TEST(ServiceOrder, KeepsTheWantedShapes) {
  const std::vector<JobShape> shapes{{10, 1, 0.1}, {20, 1, 0.2}};
  const int ranks = 4000;
  std::vector<JobShape> shape_of;
  for (int rank = 0; rank < ranks; ++rank) shape_of.push_back(shapes[rank % 2]);
  IdleQueue queue(shape_of);
  for (int rank = 0; rank < ranks; ++rank) queue.add(rank, rank, 1);
  ServiceOrder order(queue, {0, 1}, ranks);
  int next = 0;  // the first part has the jobs of both shapes, by rank
  for (const PrioritisedJob& job : order.next_jobs()) {
    EXPECT_EQ(job.rank, next);
    ++next;
  }
  ASSERT_GT(next, 0);
  ASSERT_LT(next, ranks);
  if (next % 2 == 0) ++next;
  order.keep_shapes([](int shape) { return shape == 1; });
  while (!order.is_done())
    for (const PrioritisedJob& job : order.next_jobs()) {
      EXPECT_EQ(job.rank, next);
      next += 2;
    }
  EXPECT_EQ(next, ranks + 1);
}

}  // namespace
}  // namespace cosched::cluster::dfrs
