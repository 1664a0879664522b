#include "cosched/cluster/batch/events.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::batch {
namespace {

// Whether a rank comes before another.
class Before {
 public:
  Before(const Order& order, const std::vector<BatchJob>& jobs, double now)
      : order_(order), jobs_(jobs), now_(now) {}
  bool operator()(int a, int b) const {
    const BatchJob &x = jobs_[a], &y = jobs_[b];
    if (!order_.key.empty() && order_.key[x.job] != order_.key[y.job])
      return order_.key[x.job] < order_.key[y.job];
    if (!order_.wfp3) return a < b;
    const double first = wfp3(x), second = wfp3(y);
    return first != second ? first > second : a < b;
  }

 private:
  double wfp3(const BatchJob& job) const {
    return std::pow((now_ - job.submit) / std::max(job.expected, 1.0), 3) * job.tasks;
  }

  const Order& order_;
  const std::vector<BatchJob>& jobs_;
  double now_;
};

}  // namespace

std::vector<BatchJob> batch_jobs(const Instance& instance, Estimates estimates) {
  const bool requested = estimates == Estimates::requested;
  if (requested && !instance.has_estimates())
    throw InvalidInstance("estimates = \"requested\": the jobs have no estimate column");
  const Jobs& jobs = instance.jobs();
  const std::vector<double>& expected = requested ? jobs.estimate : jobs.runtime;
  std::vector<BatchJob> result;
  result.reserve(instance.size());
  for (const int j : instance.order())
    result.push_back({jobs.submit[j], jobs.runtime[j], expected[j], jobs.tasks[j], j});
  return result;
}

bool put_in_order(std::vector<int>& queue, std::size_t head, std::size_t known, const Order& order,
                  const std::vector<BatchJob>& jobs, double now) {
  const Before before(order, jobs, now);
  const auto begin = queue.begin() + static_cast<std::ptrdiff_t>(head);
  const auto middle = queue.begin() + static_cast<std::ptrdiff_t>(known);
  if (order.wfp3) {
    std::sort(begin, queue.end(), before);
  } else if (order.key.empty()) {
    return false;
  } else if (middle != queue.end()) {
    std::sort(middle, queue.end(), before);
    std::inplace_merge(begin, middle, queue.end(), before);
  }
  return true;
}

}  // namespace cosched::cluster::batch
