#include "cosched/cluster/dfrs/idle_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cosched/cluster/dfrs/service_order.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::dfrs {
namespace {

struct IdleJob {
  int shape;
  double submit;
  double virtual_time;
};

// All jobs of these shapes in the order of service.
std::vector<PrioritisedJob> sort_jobs(const std::map<int, IdleJob>& jobs,
                                      const std::vector<int>& shapes, double now) {
  std::vector<PrioritisedJob> sorted_jobs;
  for (const auto& [rank, job] : jobs)
    if (std::count(shapes.begin(), shapes.end(), job.shape) > 0)
      sorted_jobs.push_back({priority_at(now, job.submit, job.virtual_time), rank, job.shape});
  std::sort(sorted_jobs.begin(), sorted_jobs.end(), ServedBefore());
  return sorted_jobs;
}

void expect_same(const std::vector<PrioritisedJob>& actual,
                 const std::vector<PrioritisedJob>& expected, std::size_t count) {
  ASSERT_EQ(actual.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(actual[k].rank, expected[k].rank);
    EXPECT_EQ(actual[k].priority, expected[k].priority);
    EXPECT_EQ(actual[k].shape, expected[k].shape);
  }
}

std::vector<PrioritisedJob> sort_jobs_above(const IdleQueue& queue, double now,
                                            double min_priority) {
  std::vector<PrioritisedJob> jobs;
  queue.append_jobs(now, min_priority, jobs);
  std::sort(jobs.begin(), jobs.end(), ServedBefore());
  return jobs;
}

// Jobs come and go while time passes; each answer equals that of sorting everything.
TEST(IdleQueue, ServiceOrderAndAppendEqualSorting) {
  Rng rng(21);
  const std::vector<JobShape> shapes{{20, 1, 0.2}, {10, 3, 0.1}, {10, 1, 0.1}};
  const int ranks = 6000;
  std::vector<JobShape> shape_of;
  for (int rank = 0; rank < ranks; ++rank) shape_of.push_back(shapes[rng.below(3)]);
  IdleQueue queue(shape_of);
  for (int number = 0; number < 3; ++number)
    EXPECT_TRUE(queue.shape(number) == shapes[2 - number]);  // increasing
  std::map<int, IdleJob> jobs;
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
      const IdleJob job{shape, submit, virtual_time};
      queue.add(next, job.submit, job.virtual_time);
      jobs.emplace(next, job);
      ++next;
    } else if (!jobs.empty()) {
      auto removed_job = jobs.begin();
      std::advance(removed_job, static_cast<std::ptrdiff_t>(rng.below(jobs.size())));
      queue.remove(removed_job->first);
      jobs.erase(removed_job);
    }
    if (step % 7 != 0) continue;
    std::vector<int> wanted_shapes;
    for (int shape = 0; shape < 3; ++shape) {
      SHOW_ON_FAILURE(shape);
      const bool is_present = !sort_jobs(jobs, {shape}, now).empty();
      const auto& present = queue.present_shapes();
      ASSERT_EQ(std::count(present.begin(), present.end(), shape), is_present ? 1 : 0);
      if (is_present && rng.below(3) > 0) wanted_shapes.push_back(shape);
    }
    std::vector<PrioritisedJob> expected = sort_jobs(jobs, wanted_shapes, now);
    std::vector<PrioritisedJob> served_jobs;
    ServiceOrder order(queue, wanted_shapes, now);
    const bool serves_all = rng.below(4) == 0;
    const std::size_t max_served = serves_all ? expected.size() : rng.below(80);
    while (!order.is_done() && (serves_all || served_jobs.size() < max_served)) {
      const std::vector<PrioritisedJob>& part = order.next_jobs();
      served_jobs.insert(served_jobs.end(), part.begin(), part.end());
    }
    ASSERT_GE(served_jobs.size(), std::min(max_served, expected.size()));
    expect_same(served_jobs, expected, served_jobs.size());
    expected = sort_jobs(jobs, {0, 1, 2}, now);
    if (expected.empty()) continue;
    const double min_priority = expected[rng.below(expected.size())].priority;
    const std::vector<PrioritisedJob> upper = sort_jobs_above(queue, now, min_priority);
    std::size_t count = 0;
    while (count < expected.size() && expected[count].priority >= min_priority) ++count;
    expect_same(upper, expected, count);
  }
  EXPECT_GT(jobs.size(), 1000u);  // enough for several parts
  EXPECT_EQ(next, ranks);
}

// Nearly empty blocks are put together when new ones are needed; nothing gets lost.
TEST(IdleQueue, SparseBlocksArePutTogether) {
  const int ranks = 200 * IdleBlock::kMaxJobs;
  IdleQueue queue(std::vector<JobShape>(ranks, {10, 1, 0.1}));
  std::map<int, IdleJob> jobs;
  const auto add = [&](int rank) {
    const IdleJob job{0, 10.0 * (rank % 17), 1.0 + rank % 29};
    queue.add(rank, job.submit, job.virtual_time);
    jobs.emplace(rank, job);
  };
  for (int rank = 0; rank < 100 * IdleBlock::kMaxJobs; ++rank) add(rank);
  ASSERT_EQ(queue.group(0).blocks.size(), 100u);
  for (int rank = 0; rank < 100 * IdleBlock::kMaxJobs; ++rank)
    if (rank % IdleBlock::kMaxJobs > 1 && jobs.erase(rank) > 0) queue.remove(rank);
  ASSERT_EQ(queue.group(0).blocks.size(), 100u);
  for (int rank = 100 * IdleBlock::kMaxJobs; rank < ranks; rank += 50) add(rank);
  EXPECT_LT(queue.group(0).blocks.size(), 20u);
  std::vector<int> ranks_in_queue;
  for (const auto& [rank, job] : jobs) ranks_in_queue.push_back(rank);
  EXPECT_EQ(queue.ranks(), ranks_in_queue);
  for (const double now : {170.0, 200.0, 1e4}) {
    const std::vector<PrioritisedJob> expected = sort_jobs(jobs, {0}, now);
    std::vector<PrioritisedJob> served_jobs;
    for (ServiceOrder order(queue, {0}, now); !order.is_done();)
      for (const PrioritisedJob& job : order.next_jobs()) served_jobs.push_back(job);
    expect_same(served_jobs, expected, expected.size());
    const std::vector<PrioritisedJob> upper = sort_jobs_above(queue, now, expected[50].priority);
    ASSERT_GE(upper.size(), 51u);
    expect_same(upper, expected, upper.size());
  }
  for (const int rank : ranks_in_queue) queue.remove(rank);
  EXPECT_TRUE(queue.present_shapes().empty());
  EXPECT_TRUE(queue.group(0).blocks.empty());
}

}  // namespace
}  // namespace cosched::cluster::dfrs
