// The main scheduler's pass: jobs in order of the queue, now, until one of a partition does not fit.
#include <algorithm>
#include <cmath>

#include "cosched/cluster/slurm_controller.hpp"

namespace cosched::cluster {

// bf_min_age_reserve, bf_min_prio_reserve: such a job neither blocks nor reserves.
bool SlurmController::holds_back(int job, Second now) const {
  const State& state = state_[static_cast<std::size_t>(job)];
  return now - state.submit < bf_min_age_ || state.priority < bf_min_prio_;
}

void SlurmController::main_pass(double time, bool full) {
  const auto now = static_cast<Second>(std::floor(time));
  if (completing(now)) return;
  recalculate(time);
  const std::size_t parts = machine_.parts.size();
  std::vector<char> blocked(parts);
  std::vector<int> tried(parts);
  std::size_t blocked_parts = 0;
  NodeBits allowed = up_;
  const auto block = [&](int partition) {
    if (std::exchange(blocked[static_cast<std::size_t>(partition)], 1)) return;
    ++blocked_parts;
    allowed -= machine_.parts[static_cast<std::size_t>(partition)].nodes;
  };
  int depth = 0, begun = 0;
  bool any = false;
  for (int& job : queue_) {
    if (max_job_start_ && begun >= max_job_start_) break;
    const int partition = given(job).partition;
    if (part_depth_ && tried[static_cast<std::size_t>(partition)]++ >= part_depth_) continue;
    if (!full && depth++ > queue_depth_) break;
    if (blocked[static_cast<std::size_t>(partition)]) {
      tell(time, job, SlurmAction::wait_priority);
      job_update_ = now;
      if (blocked_parts == parts && !told_) break;
    } else if (allowed.count_common(part(job).nodes) < given(job).nodes) {
      job_update_ = now;  // its nodes are kept for jobs of other partitions
      tell(time, job, SlurmAction::wait_resources);
      block(partition);
    } else if (choose_now(job, allowed, chosen_)) {
      start(job, chosen_, time, false);
      job = -1;
      any = true;
      ++begun;
    } else {
      tell(time, job, SlurmAction::wait_resources);
      if (!holds_back(job, now)) block(partition);
    }
  }
  if (any) queue_.erase(std::remove(queue_.begin(), queue_.end(), -1), queue_.end());
}

}  // namespace cosched::cluster
