#include "cosched/cluster/idle_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cosched/core/rng.hpp"

namespace cosched::cluster {
namespace {

struct Known {
  int shape;
  double submit, virtual_time;
};

std::vector<Prioritised> sorted(const std::map<int, Known>& jobs, int shape, double now) {
  std::vector<Prioritised> result;
  for (const auto& [rank, job] : jobs)
    if (job.shape == shape)
      result.push_back({priority_at(now, job.submit, job.virtual_time), rank});
  std::sort(result.begin(), result.end());
  return result;
}

void expect_same(const std::vector<Prioritised>& found, const std::vector<Prioritised>& expected,
                 std::size_t count) {
  ASSERT_EQ(found.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(found[k].rank, expected[k].rank);
    EXPECT_EQ(found[k].priority, expected[k].priority);
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
    now += static_cast<double>(rng.below(50));
    if (rng.below(5) < 3) {
      // Equal priorities on purpose; zero virtual time for some.
      const double virtual_time = rng.below(8) == 0 ? 0 : static_cast<double>(rng.between(1, 30));
      const double submit = now - static_cast<double>(rng.below(3) * 100);
      int shape = 0;
      while (!(queue.shape(shape) == shape_of[next])) ++shape;
      const Known job{shape, submit, virtual_time};
      queue.add(next, job.submit, job.virtual_time, now);
      jobs.emplace(next++, job);
    } else if (!jobs.empty()) {
      auto gone = jobs.begin();
      std::advance(gone, static_cast<std::ptrdiff_t>(rng.below(jobs.size())));
      queue.remove(gone->first, now);
      jobs.erase(gone);
    }
    if (step % 7 != 0) continue;
    for (int shape = 0; shape < 3; ++shape) {
      const std::vector<Prioritised> expected = sorted(jobs, shape, now);
      const auto& present = queue.present();
      ASSERT_EQ(std::count(present.begin(), present.end(), shape), expected.empty() ? 0 : 1);
      if (expected.empty()) continue;
      std::vector<Prioritised> served;
      ServiceOrder order(queue.group(shape), now);
      const std::size_t most = rng.below(4) == 0 ? expected.size() : rng.below(80);
      for (; !order.done() && served.size() < most; order.advance())
        served.push_back(order.first());
      expect_same(served, expected, std::min(most, expected.size()));
      order.tighten_bounds();
      const double least = expected[rng.below(expected.size())].priority;
      std::vector<Prioritised> upper;
      queue.group(shape).append(now, least, shape, upper);
      std::sort(upper.begin(), upper.end());
      std::size_t count = 0;
      while (count < expected.size() && expected[count].priority >= least) ++count;
      expect_same(upper, expected, count);
    }
  }
  EXPECT_GT(jobs.size(), 1000u);  // enough to be sorted now and then
  EXPECT_EQ(next, ranks);
}

}  // namespace
}  // namespace cosched::cluster
