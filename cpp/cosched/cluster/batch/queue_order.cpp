#include "cosched/cluster/batch/queue_order.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/assert.hpp"

namespace cosched::cluster::batch {

bool QueueComparator::operator()(int a, int b) const {
  const BatchJob& job_a = jobs_[a];
  const BatchJob& job_b = jobs_[b];
  if (!order_.keys.empty() && order_.keys[job_a.job] != order_.keys[job_b.job])
    return order_.keys[job_a.job] < order_.keys[job_b.job];
  if (!order_.wfp3) return a < b;
  const double priority_a = wfp3_priority(job_a);
  const double priority_b = wfp3_priority(job_b);
  return priority_a != priority_b ? priority_a > priority_b : a < b;
}

double QueueComparator::wfp3_priority(const BatchJob& job) const {
  return std::pow((now_ - job.submit) / std::max(job.expected_runtime, 1.0), 3) * job.tasks;
}

bool sort_queue(std::vector<int>& queue, std::size_t first, std::size_t first_new,
                const QueueOrder& order, const std::vector<BatchJob>& jobs, double now) {
  COSCHED_ASSERT(first <= first_new && first_new <= queue.size());
  const QueueComparator comes_before(order, jobs, now);
  const auto begin = queue.begin() + static_cast<std::ptrdiff_t>(first);
  const auto new_begin = queue.begin() + static_cast<std::ptrdiff_t>(first_new);
  if (order.wfp3) {
    std::sort(begin, queue.end(), comes_before);
  } else if (order.keys.empty()) {
    return false;
  } else if (new_begin != queue.end()) {
    std::sort(new_begin, queue.end(), comes_before);
    std::inplace_merge(begin, new_begin, queue.end(), comes_before);
  }
  return true;
}

}  // namespace cosched::cluster::batch
