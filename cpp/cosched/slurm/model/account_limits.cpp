#include "cosched/slurm/model/account_limits.hpp"

#include <algorithm>
#include <iterator>

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;

const char* name_of(Tres tres, bool of_qos) {
  switch (tres) {
    case kCpu:
      return "Cpu";
    case kMemory:
      return of_qos ? "Memory" : "Mem";
    case kNode:
      return "Node";
    case kBilling:
      return "Billing";
    default:
      return "GRES";
  }
}

// Some names have "Limit" at their end, others do not.
std::string reason_of_tres(Kind kind, int number, bool of_qos) {
  const auto tres = static_cast<Tres>(number);
  const std::string whose = of_qos ? "QOS" : "Assoc", name = name_of(tres, of_qos);
  const bool cpu = tres == kCpu, plain = cpu || tres == kNode;
  const std::string limit = plain ? "Limit" : "";
  switch (kind) {
    case Kind::group:
      return whose + "Grp" + (tres == kMemory ? "MemLimit" : name + limit);
    case Kind::group_minutes:
      return whose + "Grp" + (cpu ? "CPUMinutesLimit" : name + "Minutes");
    case Kind::group_run_minutes:
      return whose + "Grp" + (cpu ? "CPURunMinutesLimit" : name + "RunMinutes");
    case Kind::job_minutes:
      return whose + "Max" + name + "MinutesPerJob" + (cpu ? "Limit" : "");
    case Kind::job:
      return whose + "Max" + name + "PerJob" + limit;
    case Kind::node:
      return whose + "Max" + name + "PerNode";
    case Kind::min:
      return whose + "Min" + name + (cpu ? "NotSatisfied" : "");
    case Kind::account:
      return "Max" + name + "PerAccount";
    case Kind::account_run_minutes:
      return "Max" + name + "RunMinsPerAccount";
    case Kind::user_run_minutes:
      return "Max" + name + "RunMinsPerUser";
    default:
      return whose + "Max" + name + "PerUser" + limit;
  }
}

// Names in sacctmgr, and what squeue writes, where the limit is of no TRES; "*" is QOS or Assoc.
struct Known {
  const char* name;
  Kind kind;
  const char* reason = nullptr;
};
constexpr Known kKnown[] = {
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
  for (const Known& known : kKnown)
    if (name == known.name) return known.kind;
  throw InvalidInstance("slurm: limit '" + name + "' is not known");
}

std::string reason_of(const LimitRule& rule) {
  const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                  [&](const Known& one) { return one.kind == rule.limit.kind; });
  const char* const reason = known->reason;
  if (!reason) return reason_of_tres(rule.limit.kind, rule.limit.tres, rule.is_of_qos);
  return *reason != '*' ? reason : (rule.is_of_qos ? "QOS" : "Assoc") + std::string(reason + 1);
}

}  // namespace cosched::slurm
