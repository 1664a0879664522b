#include "cosched/cluster/batch/batch_job.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::cluster::batch {

std::vector<BatchJob> make_batch_jobs(const Instance& instance, Estimates estimates) {
  const bool uses_requests = estimates == Estimates::requested;
  if (uses_requests && !instance.has_estimates())
    throw InvalidInstance("estimates = \"requested\": the jobs have no estimate column");
  const Jobs& jobs = instance.jobs();
  const std::vector<double>& expected_runtimes = uses_requests ? jobs.estimate : jobs.runtime;
  std::vector<BatchJob> batch_jobs;
  batch_jobs.reserve(instance.size());
  for (const int j : instance.order())
    batch_jobs.push_back({.submit = jobs.submit[j],
                          .runtime = jobs.runtime[j],
                          .expected_runtime = expected_runtimes[j],
                          .tasks = jobs.tasks[j],
                          .job = j});
  return batch_jobs;
}

}  // namespace cosched::cluster::batch
