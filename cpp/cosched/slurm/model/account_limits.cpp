#include "cosched/slurm/model/account_limits.hpp"

#include <map>

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
    case Kind::job_node:
      return whose + "Max" + name + "PerNode";
    case Kind::least:
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

}  // namespace

Kind kind_of(const std::string& name) {
  static const std::map<std::string, Kind> known{
      {"GrpJobs", Kind::group_jobs},
      {"GrpWall", Kind::group_wall},
      {"MaxJobsPA", Kind::account_jobs},
      {"MaxJobsPU", Kind::user_jobs},
      {"MaxJobs", Kind::jobs},
      {"MaxWall", Kind::wall},
      {"GrpTRESMins", Kind::group_minutes},
      {"GrpTRES", Kind::group},
      {"GrpTRESRunMins", Kind::group_run_minutes},
      {"MaxTRESMins", Kind::job_minutes},
      {"MaxTRES", Kind::job},
      {"MaxTRESPerNode", Kind::job_node},
      {"MinTRES", Kind::least},
      {"MaxTRESPA", Kind::account},
      {"MaxTRESPU", Kind::user},
      {"MaxTRESRunMinsPA", Kind::account_run_minutes},
      {"MaxTRESRunMinsPU", Kind::user_run_minutes},
      {"GrpSubmit", Kind::group_submit},
      {"MaxSubmitPA", Kind::account_submit},
      {"MaxSubmitPU", Kind::user_submit},
      {"MaxSubmit", Kind::submit},
  };
  const auto found = known.find(name);
  if (found == known.end()) throw InvalidInstance("slurm: limit '" + name + "' is not known");
  return found->second;
}

std::string reason_of(const Rule& rule) {
  const std::string whose = rule.of_qos ? "QOS" : "Assoc";
  switch (rule.limit.kind) {
    case Kind::group_jobs:
      return whose + "GrpJobsLimit";
    case Kind::group_wall:
      return whose + "GrpWallLimit";
    case Kind::account_jobs:
      return "MaxJobsPerAccount";
    case Kind::user_jobs:
      return "QOSMaxJobsPerUserLimit";
    case Kind::jobs:
      return "AssocMaxJobsLimit";
    case Kind::wall:
      return whose + "MaxWallDurationPerJobLimit";
    case Kind::group_submit:
      return whose + "GrpSubmitJobsLimit";
    case Kind::account_submit:
      return "MaxSubmitJobsPerAccount";
    case Kind::user_submit:
      return "QOSMaxSubmitJobPerUserLimit";
    case Kind::submit:
      return "AssocMaxSubmitJobLimit";
    default:
      return reason_of_tres(rule.limit.kind, rule.limit.tres, rule.of_qos);
  }
}

}  // namespace cosched::slurm
