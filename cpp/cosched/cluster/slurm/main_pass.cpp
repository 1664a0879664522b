// The main scheduler's pass: jobs in order of the queue, now, until one of a partition does not fit.
#include <algorithm>
#include <cmath>

#include "cosched/cluster/slurm/controller.hpp"

namespace cosched::cluster::slurm {

namespace {

// Partitions of which a job waits: jobs behind it get none of their nodes.
class Blocked {
 public:
  Blocked(const std::vector<SlurmPartition>& parts, NodeBits up)
      : parts_(parts), blocked_(parts.size()), allowed_(std::move(up)) {}
  bool has(int partition) const { return blocked_[static_cast<std::size_t>(partition)]; }
  void add(int partition) {
    if (std::exchange(blocked_[static_cast<std::size_t>(partition)], 1)) return;
    ++count_;
    allowed_ -= parts_[static_cast<std::size_t>(partition)].nodes;
  }
  bool all() const { return count_ == parts_.size(); }
  const NodeBits& allowed() const { return allowed_; }  // nodes of none of them

 private:
  const std::vector<SlurmPartition>& parts_;
  std::vector<char> blocked_;
  std::size_t count_ = 0;
  NodeBits allowed_;
};

}  // namespace

// bf_min_age_reserve, bf_min_prio_reserve: such a job neither blocks nor reserves.
bool SlurmController::holds_back(int job, Second now) const {
  const State& state = state_[static_cast<std::size_t>(job)];
  return now - state.submit < bf_min_age_ || state.priority < bf_min_prio_;
}

void SlurmController::main_pass(double time, bool full) {
  const auto now = static_cast<Second>(std::floor(time));
  if (completing(now)) return;
  recalculate(time);
  std::vector<int> tried(machine_.parts.size());
  Blocked blocked(machine_.parts, up_);
  int depth = 0, begun = 0;
  for (int& job : queue_) {
    if (max_job_start_ && begun >= max_job_start_) break;
    const int partition = given(job).partition;
    if (part_depth_ && tried[static_cast<std::size_t>(partition)]++ >= part_depth_) continue;
    if (!full && depth++ > queue_depth_) break;
    if (blocked.has(partition)) {
      tell(time, job, SlurmAction::wait_priority);
      job_update_ = now;
      if (blocked.all() && !told_) break;
    } else if (blocked.allowed().count_common(part(job).nodes) < given(job).nodes) {
      job_update_ = now;  // its nodes are kept for jobs of other partitions
      tell(time, job, SlurmAction::wait_resources);
      blocked.add(partition);
    } else if (choose_now(job, blocked.allowed(), chosen_)) {
      start(job, chosen_, time, false);
      job = -1;
      ++begun;
    } else {
      tell(time, job, SlurmAction::wait_resources);
      if (!holds_back(job, now)) blocked.add(partition);
    }
  }
  if (begun > 0) drop_started();
}

}  // namespace cosched::cluster::slurm
