#include "cosched/slurm/state/limit_blocks.hpp"

#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {
namespace {

// True for a limit of each job by itself, which no end of another job makes room in.
bool is_of_single_job(Limit::Kind kind) {
  return kind == Limit::Kind::wall || kind == Limit::Kind::job_minutes ||
         kind == Limit::Kind::job || kind == Limit::Kind::node || kind == Limit::Kind::min;
}

LimitBlock block_of(const AccountingPolicy& policy, const LimitRule& rule) {
  LimitBlock block{
      .reason = reason_of(rule), .limit = rule.limit.value, .used = 0, .blocking_jobs = {}};
  if (is_of_single_job(rule.limit.kind)) return block;
  block.used = policy.counted_usage(rule);
  block.blocking_jobs = policy.running_jobs_of(rule);
  return block;
}

}  // namespace

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
    if (violation) blocks[job] = block_of(policy, *violation);
  }
  return blocks;
}

}  // namespace cosched::slurm
