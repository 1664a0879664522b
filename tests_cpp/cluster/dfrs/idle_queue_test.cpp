#include "cosched/cluster/dfrs/idle_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cosched/core/rng.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::dfrs {
namespace {

struct Known {
  int shape;
  double submit, virtual_time;
};

std::vector<Prioritised> sorted(const std::map<int, Known>& jobs, const std::vector<int>& shapes,
                                double now) {
  std::vector<Prioritised> result;
  for (const auto& [rank, job] : jobs)
    if (std::count(shapes.begin(), shapes.end(), job.shape) > 0)
      result.push_back({priority_at(now, job.submit, job.virtual_time), rank, job.shape});
  std::sort(result.begin(), result.end(), ServedBefore());
  return result;
}

void expect_same(const std::vector<Prioritised>& found, const std::vector<Prioritised>& expected,
                 std::size_t count) {
  ASSERT_EQ(found.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(found[k].rank, expected[k].rank);
    EXPECT_EQ(found[k].priority, expected[k].priority);
    EXPECT_EQ(found[k].shape, expected[k].shape);
  }
}

// Jobs come and go while time passes; each answer equals that of sorting everything.
TEST(IdleQueue, ServiceOrderAndAppendEqualSorting) {
  Rng rng(21);
  const std::vector<IdleQueue::Shape> shapes{{20, 1, 0.2}, {10, 3, 0.1}, {10, 1, 0.1}};
  const int ranks = 6000;
  std::vector<IdleQueue::Shape> shape_of;
  for (int rank = 0; rank < ranks; ++rank) shape_of.push_back(shapes[rng.below(3)]);
  IdleQueue queue(shape_of);
  for (int number = 0; number < 3; ++number)
    EXPECT_TRUE(queue.shape(number) == shapes[2 - number]);  // increasing
  std::map<int, Known> jobs;
  double now = 0;
  int next = 0;
  for (int step = 0; step < 40'000 && next < ranks; ++step) {
    SHOW_ON_FAILURE(step);
    now += static_cast<double>(rng.below(50));
    if (rng.below(5) < 3) {
      // Equal priorities on purpose; zero virtual time for some.
      const double virtual_time = rng.below(8) == 0 ? 0 : static_cast<double>(rng.between(1, 30));
      const double submit = now - static_cast<double>(rng.below(3) * 100);
      int shape = 0;
      while (!(queue.shape(shape) == shape_of[next])) ++shape;
      const Known job{shape, submit, virtual_time};
      queue.add(next, job.submit, job.virtual_time);
      jobs.emplace(next++, job);
    } else if (!jobs.empty()) {
      auto gone = jobs.begin();
      std::advance(gone, static_cast<std::ptrdiff_t>(rng.below(jobs.size())));
      queue.remove(gone->first);
      jobs.erase(gone);
    }
    if (step % 7 != 0) continue;
    std::vector<int> wanted;  // shapes
    for (int shape = 0; shape < 3; ++shape) {
      SHOW_ON_FAILURE(shape);
      const bool any = !sorted(jobs, {shape}, now).empty();
      const auto& present = queue.present();
      ASSERT_EQ(std::count(present.begin(), present.end(), shape), any ? 1 : 0);
      if (any && rng.below(3) > 0) wanted.push_back(shape);
    }
    std::vector<Prioritised> expected = sorted(jobs, wanted, now);
    std::vector<Prioritised> served;
    ServiceOrder order(queue, wanted, now);
    const bool all = rng.below(4) == 0;
    const std::size_t most = all ? expected.size() : rng.below(80);
    while (!order.done() && (all || served.size() < most)) {
      const std::vector<Prioritised>& part = order.next();
      served.insert(served.end(), part.begin(), part.end());
    }
    ASSERT_GE(served.size(), std::min(most, expected.size()));
    expect_same(served, expected, served.size());
    expected = sorted(jobs, {0, 1, 2}, now);
    if (expected.empty()) continue;
    const double least = expected[rng.below(expected.size())].priority;
    std::vector<Prioritised> upper = queue.append({}, now, least);
    std::sort(upper.begin(), upper.end(), ServedBefore());
    std::size_t count = 0;
    while (count < expected.size() && expected[count].priority >= least) ++count;
    expect_same(upper, expected, count);
  }
  EXPECT_GT(jobs.size(), 1000u);  // enough for several parts
  EXPECT_EQ(next, ranks);
}

// Nearly empty blocks are put together when new ones are needed; nothing gets lost.
TEST(IdleQueue, SparseBlocksArePutTogether) {
  const int ranks = 200 * IdleBlock::kMost;
  IdleQueue queue(std::vector<IdleQueue::Shape>(ranks, {10, 1, 0.1}));
  std::map<int, Known> jobs;
  const auto add = [&](int rank) {
    const Known job{0, 10.0 * (rank % 17), 1.0 + rank % 29};
    queue.add(rank, job.submit, job.virtual_time);
    jobs.emplace(rank, job);
  };
  for (int rank = 0; rank < 100 * IdleBlock::kMost; ++rank) add(rank);
  ASSERT_EQ(queue.group(0).blocks.size(), 100u);
  for (int rank = 0; rank < 100 * IdleBlock::kMost; ++rank)
    if (rank % IdleBlock::kMost > 1 && jobs.erase(rank) > 0) queue.remove(rank);
  ASSERT_EQ(queue.group(0).blocks.size(), 100u);
  for (int rank = 100 * IdleBlock::kMost; rank < ranks; rank += 50) add(rank);
  EXPECT_LT(queue.group(0).blocks.size(), 20u);
  std::vector<int> known;
  for (const auto& [rank, job] : jobs) known.push_back(rank);
  EXPECT_EQ(queue.ranks(), known);
  for (const double now : {170.0, 200.0, 1e4}) {
    const std::vector<Prioritised> expected = sorted(jobs, {0}, now);
    std::vector<Prioritised> served;
    for (ServiceOrder order(queue, {0}, now); !order.done();)
      for (const Prioritised& job : order.next()) served.push_back(job);
    expect_same(served, expected, expected.size());
    std::vector<Prioritised> upper = queue.append({}, now, expected[50].priority);
    std::sort(upper.begin(), upper.end(), ServedBefore());
    ASSERT_GE(upper.size(), 51u);
    expect_same(upper, expected, upper.size());
  }
  for (const int rank : known) queue.remove(rank);
  EXPECT_TRUE(queue.present().empty());
  EXPECT_TRUE(queue.group(0).blocks.empty());
}

// Shapes that find no room any more are left out of the parts to come.
TEST(IdleQueue, ServiceOrderKeepsTheShapesWanted) {
  const std::vector<IdleQueue::Shape> shapes{{10, 1, 0.1}, {20, 1, 0.2}};
  const int ranks = 4000;
  std::vector<IdleQueue::Shape> shape_of;
  for (int rank = 0; rank < ranks; ++rank) shape_of.push_back(shapes[rank % 2]);
  IdleQueue queue(shape_of);
  for (int rank = 0; rank < ranks; ++rank) queue.add(rank, rank, 1);
  ServiceOrder order(queue, {0, 1}, ranks);
  int next = 0;  // of the first part: all, by rank
  for (const Prioritised& job : order.next()) EXPECT_EQ(job.rank, next++);
  ASSERT_GT(next, 0);
  ASSERT_LT(next, ranks);
  next += next % 2 == 0;
  for (order.keep([](int shape) { return shape == 1; }); !order.done();)
    for (const Prioritised& job : order.next()) {
      EXPECT_EQ(job.rank, next);
      next += 2;
    }
  EXPECT_EQ(next, ranks + 1);
}

}  // namespace
}  // namespace cosched::cluster::dfrs
