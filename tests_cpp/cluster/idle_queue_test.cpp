#include "cosched/cluster/idle_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cosched/core/rng.hpp"

namespace cosched::cluster {
namespace {

struct Known {
  IdleQueue::Shape shape;
  double submit, virtual_time;
};

std::vector<Prioritised> sorted(const std::map<int, Known>& jobs, const IdleQueue::Shape& shape,
                                double now) {
  std::vector<Prioritised> result;
  for (const auto& [rank, job] : jobs)
    if (!(job.shape < shape) && !(shape < job.shape))
      result.push_back({priority_at(now, job.submit, job.virtual_time), rank});
  std::sort(result.begin(), result.end());
  return result;
}

// Jobs come and go while time passes; each answer equals that of sorting everything.
TEST(IdleQueue, FirstAndAppendEqualSorting) {
  Rng rng(21);
  const std::vector<IdleQueue::Shape> shapes{{10, 1}, {10, 3}, {20, 1}};
  const int ranks = 6000;
  IdleQueue queue(ranks);
  std::map<int, Known> jobs;
  double now = 0;
  int next = 0;
  for (int step = 0; step < 40'000 && next < ranks; ++step) {
    now += static_cast<double>(rng.below(50));
    if (rng.below(5) < 3) {
      // Equal priorities on purpose; zero virtual time for some.
      const double virtual_time = rng.below(8) == 0 ? 0 : static_cast<double>(rng.between(1, 30));
      const double submit = now - static_cast<double>(rng.below(3) * 100);
      const Known job{shapes[rng.below(3)], submit, virtual_time};
      queue.add(job.shape, next, job.submit, job.virtual_time, now);
      jobs.emplace(next++, job);
    } else if (!jobs.empty()) {
      auto gone = jobs.begin();
      std::advance(gone, static_cast<std::ptrdiff_t>(rng.below(jobs.size())));
      queue.remove(gone->second.shape, gone->first, now);
      jobs.erase(gone);
    }
    if (step % 7 != 0) continue;
    for (const auto& shape : shapes) {
      const std::vector<Prioritised> expected = sorted(jobs, shape, now);
      const auto group = queue.groups().find(shape);
      ASSERT_EQ(group == queue.groups().end(), expected.empty());
      if (expected.empty()) continue;
      const Prioritised first = group->second.first(now);
      EXPECT_EQ(first.rank, expected[0].rank);
      EXPECT_EQ(first.priority, expected[0].priority);
      const double least = expected[rng.below(expected.size())].priority;
      std::vector<Prioritised> upper;
      group->second.append(now, least, upper);
      std::sort(upper.begin(), upper.end());
      std::size_t count = 0;
      while (count < expected.size() && expected[count].priority >= least) ++count;
      ASSERT_EQ(upper.size(), count);
      for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(upper[k].rank, expected[k].rank);
    }
  }
  EXPECT_GT(jobs.size(), 1000u);  // enough to be sorted now and then
  EXPECT_EQ(next, ranks);
}

}  // namespace
}  // namespace cosched::cluster
