// Limits of associations and QOS, by the names of sacctmgr (RULES.md 14).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cosched::slurm {

/// TRES by number; behind kGpu one for each type of GPUs.
enum Tres : int { kCpu, kMemory, kNode, kBilling, kGpu, kGpuTypes };
/// By TRES.
using Amounts = std::vector<double>;

struct Limit {
  /// In the order in which slurmctld tests those of one QOS or association.
  enum class Kind : char {
    // before nodes are looked for
    group_jobs,
    group_wall,
    account_jobs,
    user_jobs,
    jobs,
    wall,
    // with nodes
    group_minutes,
    group,
    group_run_minutes,
    job_minutes,
    job,
    node,
    min,
    account,
    user,
    account_run_minutes,  // since 24.11, as the next
    user_run_minutes,
    // at submission
    group_submit,
    account_submit,
    user_submit,
    submit
  };
  Kind kind;
  int tres;                // -1: of jobs or time
  double value;            // minutes, where it is of time
  double used_before = 0;  // minutes that ended jobs had used when the simulation begins
};

/// Of a QOS or an association.
struct Limits {
  std::vector<Limit> limits;
  // How many pending jobs may accrue age (RULES.md 13.6); -1: no limit.
  int max_accruing_group = -1;    // GrpJobsAccrue
  int max_accruing_account = -1;  // MaxJobsAccruePA
  int max_accruing_user = -1;     // MaxJobsAccruePU
  int max_accruing = -1;          // MaxJobsAccrue
};

struct Qos : Limits {
  bool overrides_partition_qos = false;  // OverPartQOS
  bool denies_on_limit = false;          // DenyOnLimit
  bool is_usage_factor_safe = false;     // UsageFactorSafe
  bool no_decay = false;                 // NoDecay
  bool no_reserve = false;               // NoReserve
  // PartitionMaxNodes, PartitionMinNodes: those of the partition do not hold.
  bool ignores_partition_nodes = false;
  double usage_factor = 1;
  double limit_factor = -1;  // below 0: none
  // Preemption (RULES.md 15).
  std::vector<int> preempts = {};  // QOS whose jobs it may end
  double priority = 0;
  int preempt_mode = -1;                  // of its jobs; -1: the cluster's
  std::int64_t grace_time = 0;            // GraceTime (s)
  std::int64_t preempt_exempt_time = -1;  // PreemptExemptTime (s); -1: not set
};

/// The kind of this name in sacctmgr, as GrpTRES or MaxJobsPU.  Throws InvalidInstance for another.
Limit::Kind kind_of(const std::string& name);

/// A limit that holds for a job.
struct LimitRule {
  Limit limit;
  bool is_of_qos;
  int counter;  // of AccountingPolicy, in which the limit counts
};

/// The reason of a job that the rule keeps waiting, as squeue prints it: QOSGrpNodeLimit.
std::string reason_of(const LimitRule& rule);

}  // namespace cosched::slurm
