#include "cosched/moldable/list/job_orders.hpp"

namespace cosched::moldable::list {

std::vector<int> order_by_density(const Instance& instance) {
  return order_jobs_by(instance.jobs(),
                       [&](int i) { return -instance.weight(i) / instance.least_work(i); });
}

std::vector<int> order_by_least_work(const Instance& instance) {
  return order_jobs_by(instance.jobs(), [&](int i) { return instance.least_work(i); });
}

}  // namespace cosched::moldable::list
