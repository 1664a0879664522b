#include "cosched/cluster/slurm/setup.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::cluster::slurm {
namespace {

const std::map<std::string, double>& defaults() {
  static const std::map<std::string, double> known{
      // SchedulerParameters; bf_window in seconds, 0 = none, or the parameter named
      {"bf_interval", 30},
      {"bf_resolution", 60},
      {"bf_window", 86400},
      {"bf_max_time", 0},  // bf_interval
      {"bf_max_job_test", 500},
      {"bf_node_space_size", 0},  // bf_max_job_test
      {"bf_max_job_start", 0},
      {"bf_max_job_user", 0},
      {"bf_max_job_part", 0},
      {"bf_max_job_user_part", 0},
      {"bf_min_age_reserve", 0},
      {"bf_min_prio_reserve", 0},
      {"bf_window_linear", 0},
      {"default_queue_depth", 100},
      {"partition_job_depth", 0},
      {"sched_max_job_start", 0},
      {"batch_sched_delay", 3},
      {"sched_interval", 60},
      {"sched_min_interval", 2e-6},
      {"defer", 0},
      // the rest of slurm.conf
      {"cons_tres", 0},  // SelectType
      {"multifactor", 0},
      {"age_counts", 0},  // there is a slurmdbd
      {"OverTimeLimit", 0},
      {"KillWait", 30},
      {"CompleteWait", 0},
      {"PriorityWeightAge", 0},
      {"PriorityMaxAge", 7 * 86400},
      {"PriorityCalcPeriod", 300},
      {"PriorityWeightJobSize", 0},
      {"PriorityFavorSmall", 0},
      {"SMALL_RELATIVE_TO_TIME", 0},
      {"PriorityWeightPartition", 0},
  };
  return known;
}

}  // namespace

SlurmParameters::SlurmParameters(const std::map<std::string, double>& given) : values(defaults()) {
  for (const auto& [name, value] : given) {
    const auto found = values.find(name);
    if (found == values.end())
      throw InvalidInstance("slurm: parameter '" + name + "' is not known");
    found->second = value;
  }
  if (values["bf_max_time"] == 0) values["bf_max_time"] = values["bf_interval"];
  if (values["bf_node_space_size"] == 0) values["bf_node_space_size"] = values["bf_max_job_test"];
}

}  // namespace cosched::cluster::slurm
