#include "cosched/slurm/model/account_limits.hpp"

#include <algorithm>
#include <iterator>

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;

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
std::string reason_of_tres(Kind kind, int tres_number, bool is_of_qos) {
  const auto tres = static_cast<Tres>(tres_number);
  const std::string owner = is_of_qos ? "QOS" : "Assoc";
  const std::string name = name_of(tres, is_of_qos);
  const bool is_cpu = tres == kCpu;
  const std::string limit = is_cpu || tres == kNode ? "Limit" : "";
  switch (kind) {
    case Kind::group:
      return owner + "Grp" + (tres == kMemory ? "MemLimit" : name + limit);
    case Kind::group_minutes:
      return owner + "Grp" + (is_cpu ? "CPUMinutesLimit" : name + "Minutes");
    case Kind::group_run_minutes:
      return owner + "Grp" + (is_cpu ? "CPURunMinutesLimit" : name + "RunMinutes");
    case Kind::job_minutes:
      return owner + "Max" + name + "MinutesPerJob" + (is_cpu ? "Limit" : "");
    case Kind::job:
      return owner + "Max" + name + "PerJob" + limit;
    case Kind::node:
      return owner + "Max" + name + "PerNode";
    case Kind::min:
      return owner + "Min" + name + (is_cpu ? "NotSatisfied" : "");
    case Kind::account:
      return "Max" + name + "PerAccount";
    case Kind::account_run_minutes:
      return "Max" + name + "RunMinsPerAccount";
    case Kind::user_run_minutes:
      return "Max" + name + "RunMinsPerUser";
    default:
      return owner + "Max" + name + "PerUser" + limit;
  }
}

// A kind of limit: its name in sacctmgr, and the reason that squeue prints for it.
struct LimitName {
  const char* name;
  Kind kind;
  // "*" stands for QOS or Assoc; null: the limit is of a TRES, see reason_of_tres.
  const char* reason = nullptr;
};
constexpr LimitName kLimitNames[] = {
    {"GrpJobs", Kind::group_jobs, "*GrpJobsLimit"},
    {"GrpWall", Kind::group_wall, "*GrpWallLimit"},
    {"MaxJobsPA", Kind::account_jobs, "MaxJobsPerAccount"},
    {"MaxJobsPU", Kind::user_jobs, "QOSMaxJobsPerUserLimit"},
    {"MaxJobs", Kind::jobs, "AssocMaxJobsLimit"},
    {"MaxWall", Kind::wall, "*MaxWallDurationPerJobLimit"},
    {"GrpTRESMins", Kind::group_minutes},
    {"GrpTRES", Kind::group},
    {"GrpTRESRunMins", Kind::group_run_minutes},
    {"MaxTRESMins", Kind::job_minutes},
    {"MaxTRES", Kind::job},
    {"MaxTRESPerNode", Kind::node},
    {"MinTRES", Kind::min},
    {"MaxTRESPA", Kind::account},
    {"MaxTRESPU", Kind::user},
    {"MaxTRESRunMinsPA", Kind::account_run_minutes},
    {"MaxTRESRunMinsPU", Kind::user_run_minutes},
    {"GrpSubmit", Kind::group_submit, "*GrpSubmitJobsLimit"},
    {"MaxSubmitPA", Kind::account_submit, "MaxSubmitJobsPerAccount"},
    {"MaxSubmitPU", Kind::user_submit, "QOSMaxSubmitJobPerUserLimit"},
    {"MaxSubmit", Kind::submit, "AssocMaxSubmitJobLimit"},
};

}  // namespace

Kind kind_of(const std::string& name) {
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
