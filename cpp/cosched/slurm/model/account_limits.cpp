#include "cosched/slurm/model/account_limits.hpp"

#include <algorithm>
#include <iterator>

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

using LimitKind = Limit::Kind;

const char* name_of(Tres tres, bool is_of_qos) {
  switch (tres) {
    case kCpu:
      return "Cpu";
    case kMemory:
      return is_of_qos ? "Memory" : "Mem";
    case kNode:
      return "Node";
    case kBilling:
      return "Billing";
    default:
      return "GRES";
  }
}

// The reason that squeue prints for a limit of a TRES.  Slurm ends some of these names with
// "Limit", others not.
std::string reason_of_tres(LimitKind kind, int tres_number, bool is_of_qos) {
  const auto tres = static_cast<Tres>(tres_number);
  const std::string owner = is_of_qos ? "QOS" : "Assoc";
  const std::string name = name_of(tres, is_of_qos);
  const bool is_cpu = tres == kCpu;
  const std::string limit = is_cpu || tres == kNode ? "Limit" : "";
  switch (kind) {
    case LimitKind::group:
      return owner + "Grp" + (tres == kMemory ? "MemLimit" : name + limit);
    case LimitKind::group_minutes:
      return owner + "Grp" + (is_cpu ? "CPUMinutesLimit" : name + "Minutes");
    case LimitKind::group_run_minutes:
      return owner + "Grp" + (is_cpu ? "CPURunMinutesLimit" : name + "RunMinutes");
    case LimitKind::job_minutes:
      return owner + "Max" + name + "MinutesPerJob" + (is_cpu ? "Limit" : "");
    case LimitKind::job:
      return owner + "Max" + name + "PerJob" + limit;
    case LimitKind::node:
      return owner + "Max" + name + "PerNode";
    case LimitKind::min:
      return owner + "Min" + name + (is_cpu ? "NotSatisfied" : "");
    case LimitKind::account:
      return "Max" + name + "PerAccount";
    case LimitKind::account_run_minutes:
      return "Max" + name + "RunMinsPerAccount";
    case LimitKind::user_run_minutes:
      return "Max" + name + "RunMinsPerUser";
    default:
      return owner + "Max" + name + "PerUser" + limit;
  }
}

// A kind of limit: its name in sacctmgr, and the reason that squeue prints for it.
struct LimitName {
  const char* name;
  LimitKind kind;
  // "*" stands for QOS or Assoc; null: the limit is of a TRES, see reason_of_tres.
  const char* reason = nullptr;
};
constexpr LimitName kLimitNames[] = {
    {"GrpJobs", LimitKind::group_jobs, "*GrpJobsLimit"},
    {"GrpWall", LimitKind::group_wall, "*GrpWallLimit"},
    {"MaxJobsPA", LimitKind::account_jobs, "MaxJobsPerAccount"},
    {"MaxJobsPU", LimitKind::user_jobs, "QOSMaxJobsPerUserLimit"},
    {"MaxJobs", LimitKind::jobs, "AssocMaxJobsLimit"},
    {"MaxWall", LimitKind::wall, "*MaxWallDurationPerJobLimit"},
    {"GrpTRESMins", LimitKind::group_minutes},
    {"GrpTRES", LimitKind::group},
    {"GrpTRESRunMins", LimitKind::group_run_minutes},
    {"MaxTRESMins", LimitKind::job_minutes},
    {"MaxTRES", LimitKind::job},
    {"MaxTRESPerNode", LimitKind::node},
    {"MinTRES", LimitKind::min},
    {"MaxTRESPA", LimitKind::account},
    {"MaxTRESPU", LimitKind::user},
    {"MaxTRESRunMinsPA", LimitKind::account_run_minutes},
    {"MaxTRESRunMinsPU", LimitKind::user_run_minutes},
    {"GrpSubmit", LimitKind::group_submit, "*GrpSubmitJobsLimit"},
    {"MaxSubmitPA", LimitKind::account_submit, "MaxSubmitJobsPerAccount"},
    {"MaxSubmitPU", LimitKind::user_submit, "QOSMaxSubmitJobPerUserLimit"},
    {"MaxSubmit", LimitKind::submit, "AssocMaxSubmitJobLimit"},
};

}  // namespace

LimitKind kind_of(const std::string& name) {
  for (const LimitName& limit_name : kLimitNames)
    if (name == limit_name.name) return limit_name.kind;
  throw InvalidInstance("slurm: limit '" + name + "' is not known");
}

std::string reason_of(const LimitRule& rule) {
  const auto limit_name =
      std::find_if(std::begin(kLimitNames), std::end(kLimitNames),
                   [&](const LimitName& candidate) { return candidate.kind == rule.limit.kind; });
  const char* const reason = limit_name->reason;
  if (!reason) return reason_of_tres(rule.limit.kind, rule.limit.tres, rule.is_of_qos);
  if (*reason != '*') return reason;
  const std::string owner = rule.is_of_qos ? "QOS" : "Assoc";
  return owner + (reason + 1);
}

}  // namespace cosched::slurm
