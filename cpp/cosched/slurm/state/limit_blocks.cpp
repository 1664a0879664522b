#include "cosched/slurm/state/limit_blocks.hpp"

#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {

std::vector<std::optional<LimitBlock>> limit_blocks(const Scenario& scenario) {
  ControllerState controller(scenario, 0, {});
  const int job_count = static_cast<int>(scenario.jobs().size());
  for (int job = 0; job < job_count; ++job)
    if (scenario.job(job).running_state) controller.adopt_running(job);
  std::vector<std::optional<LimitBlock>> blocks(scenario.jobs().size());
  const AccountingPolicy& policy = controller.policy();
  for (int job = 0; job < job_count; ++job) {
    if (scenario.job(job).running_state) continue;
    const QueueEntry entry{job, scenario.job(job).partition};
    AccountingPolicy::Violation violation = policy.violation_before_nodes(entry);
    if (!violation) violation = policy.violation_with_nodes(entry, scenario.job(entry).nodes);
    if (violation)
      blocks[job] =
          LimitBlock{reason_of(*violation), violation->limit.value,
                     policy.counted_usage(*violation), policy.running_jobs_of(*violation)};
  }
  return blocks;
}

}  // namespace cosched::slurm
