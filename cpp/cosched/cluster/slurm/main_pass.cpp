#include "cosched/cluster/slurm/main_pass.hpp"

#include <utility>

namespace cosched::cluster::slurm {
namespace {

// Partitions of which a job waits: jobs behind it get none of their nodes.
class Blocked {
 public:
  Blocked(const std::vector<Partition>& parts, NodeBits up)
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
  const std::vector<Partition>& parts_;
  std::vector<char> blocked_;
  std::size_t count_ = 0;
  NodeBits allowed_;
};

}  // namespace

std::vector<int> main_pass(Tables& tables, Select& select, double time, bool full) {
  std::vector<int> started;
  const Second now = whole(time);
  if (tables.completing(now)) return started;
  const Scenario& scenario = tables.scenario;
  const Settings::Main& settings = scenario.settings().main;
  tables.queue.recalculate(time);
  std::vector<int> tried(scenario.machine().parts.size());
  Blocked blocked(scenario.machine().parts, tables.allocations.up());
  int depth = 0;
  for (const int job : tables.queue.jobs()) {
    if (settings.max_job_start && static_cast<int>(started.size()) >= settings.max_job_start) break;
    const int partition = scenario.job(job).partition;
    if (settings.partition_depth &&
        tried[static_cast<std::size_t>(partition)]++ >= settings.partition_depth)
      continue;
    if (!full && depth++ > settings.queue_depth) break;
    if (blocked.has(partition)) {
      tables.journal.wait(job, time, Action::wait_priority);
      tables.updates.jobs = now;
      if (blocked.all() && !tables.journal.told()) break;
    } else if (blocked.allowed().count_common(scenario.part(job).nodes) < scenario.job(job).nodes) {
      tables.updates.jobs = now;  // its nodes are kept for jobs of other partitions
      tables.journal.wait(job, time, Action::wait_resources);
      blocked.add(partition);
    } else if (const NodeBits* nodes = select.now(job, blocked.allowed())) {
      tables.start(job, *nodes, time, Scheduler::main);
      started.push_back(job);
    } else {
      tables.journal.wait(job, time, Action::wait_resources);
      if (!tables.queue.holds_back(job, now)) blocked.add(partition);
    }
  }
  if (!started.empty()) tables.queue.drop([&](int job) { return tables.allocations.started(job); });
  return started;
}

}  // namespace cosched::cluster::slurm
