#include "cosched/moldable/batches/online.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::moldable::batches {
namespace {

// What a user's algorithm may get wrong, and place() must not see.
void require_valid_batch(const Placement& batch, const std::vector<int>& jobs, int machines) {
  const std::size_t n = jobs.size();
  if (batch.procs.size() != n || batch.start.size() != n || batch.end.size() != n)
    throw InvalidInstance("the off-line algorithm placed " + std::to_string(batch.procs.size()) +
                          " of a batch's " + std::to_string(n) + " jobs");
  for (std::size_t k = 0; k < n; ++k)
    if (batch.procs[k] < 1 || batch.procs[k] > machines || !(batch.start[k] >= 0))
      throw InvalidInstance("the off-line algorithm starts job " + std::to_string(jobs[k]) +
                            " at " + to_text(batch.start[k]) + " on " +
                            std::to_string(batch.procs[k]) + " processors: expected a start >= 0 " +
                            "and 1.." + std::to_string(machines) + " processors");
}

}  // namespace

Placement schedule_by_batches(const Instance& instance, const OfflineAlgorithm& solve) {
  const int n = instance.jobs();
  std::vector<int> order =
      sorted_numbers(n, [&](int a, int b) { return instance.release(a) < instance.release(b); });
  Placement placement = empty_placement(n);
  double current_time = 0;
  for (int next_job = 0; next_job < n;) {
    without_deadline(
        &check_interrupt);  // a limit ends the off-line algorithm, which may have an answer
    current_time = std::max(current_time, instance.release(order[next_job]));
    std::vector<int> jobs;
    while (next_job < n && instance.release(order[next_job]) <= current_time) {
      jobs.push_back(order[next_job]);
      ++next_job;
    }
    std::sort(jobs.begin(), jobs.end());
    const Placement batch = solve(jobs);
    require_valid_batch(batch, jobs, instance.machines());
    const double batch_begin = current_time;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      const int i = jobs[k];
      place(instance, placement, i, batch.procs[k], batch_begin + batch.start[k]);
      // Of jobs that share something the batch alone knows counts and ends.
      if (instance.sharing() != nullptr) {
        placement.procs[i] = batch.procs[k];
        placement.end[i] = batch_begin + batch.end[k];
      }
      current_time = std::max(current_time, placement.end[jobs[k]]);
    }
  }
  return placement;
}

}  // namespace cosched::moldable::batches
