#include "cosched/slurm/model/settings.hpp"

#include <algorithm>

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

int count_of(double value) {
  return static_cast<int>(std::min<double>(value, std::numeric_limits<int>::max()));
}

struct Parameter {
  const char* name;
  double default_value;
  void (*set)(Settings&, double);
};

const Parameter kParameters[] = {
    // SchedulerParameters; bf_window in seconds; 0 = none, or as in set_derived_defaults
    {"bf_interval", 30, [](Settings& s, double v) { s.backfill.interval = to_duration(v); }},
    {"bf_resolution", 60, [](Settings& s, double v) { s.backfill.resolution = to_duration(v); }},
    {"bf_window", 86400, [](Settings& s, double v) { s.backfill.window = to_duration(v); }},
    {"bf_max_time", 0, [](Settings& s, double v) { s.backfill.max_time = to_duration(v); }},
    {"bf_max_job_test", 500, [](Settings& s, double v) { s.backfill.max_job_test = count_of(v); }},
    {"bf_node_space_size", 0,
     [](Settings& s, double v) { s.backfill.node_space_size = count_of(v); }},
    {"bf_max_job_start", 0, [](Settings& s, double v) { s.backfill.max_job_start = count_of(v); }},
    {"bf_max_job_user", 0, [](Settings& s, double v) { s.backfill.limits.user = count_of(v); }},
    {"bf_max_job_part", 0,
     [](Settings& s, double v) { s.backfill.limits.partition = count_of(v); }},
    {"bf_max_job_user_part", 0,
     [](Settings& s, double v) { s.backfill.limits.user_and_partition = count_of(v); }},
    {"bf_min_age_reserve", 0,
     [](Settings& s, double v) { s.reservation_minimums.min_age = to_duration(v); }},
    {"bf_min_prio_reserve", 0,
     [](Settings& s, double v) { s.reservation_minimums.min_priority = v; }},
    {"bf_window_linear", 0, [](Settings& s, double v) { s.select.window_linear = count_of(v); }},
    {"bf_max_job_array_resv", 20,
     [](Settings& s, double v) { s.backfill.max_job_array_resv = count_of(v); }},
    {"bf_one_resv_per_job", 0, [](Settings& s, double v) { s.backfill.one_resv_per_job = v != 0; }},
    {"default_queue_depth", 100, [](Settings& s, double v) { s.main.queue_depth = count_of(v); }},
    {"partition_job_depth", 0, [](Settings& s, double v) { s.main.partition_depth = count_of(v); }},
    {"sched_max_job_start", 0, [](Settings& s, double v) { s.main.max_job_start = count_of(v); }},
    {"batch_sched_delay", 3,
     [](Settings& s, double v) { s.main.batch_sched_delay = to_duration(v); }},
    {"sched_interval", 60, [](Settings& s, double v) { s.main.interval = to_duration(v); }},
    {"sched_min_interval", 2e-6, [](Settings& s, double v) { s.main.min_interval = v; }},
    {"defer", 0, [](Settings& s, double v) { s.main.defer = v != 0; }},
    // the rest of slurm.conf
    {"builtin", 0, [](Settings& s, double v) { s.backfill.is_off = v != 0; }},  // SchedulerType
    {"since_24", 0, [](Settings& s, double v) { s.is_24_11 = v != 0; }},        // the version
    {"Epilog", 0, [](Settings& s, double v) { s.job_ends.has_epilog = v != 0; }},
    {"ResvOverRun", 0, [](Settings& s, double v) { s.job_ends.resv_over_run = to_duration(v); }},
    {"ReturnToService", 0,
     [](Settings& s, double v) { s.job_ends.return_to_service = count_of(v); }},
    {"cons_tres", 0, [](Settings& s, double v) { s.select.cons_tres = v != 0; }},  // SelectType
    {"multifactor", 0, [](Settings& s, double v) { s.priority.multifactor = v != 0; }},
    {"age_counts", 0, [](Settings& s, double v) { s.priority.ages_count = v != 0; }},
    {"OverTimeLimit", 0,
     [](Settings& s, double v) {
       s.select.over_time_limit = s.job_ends.over_time_limit = to_duration(v);
     }},
    {"KillWait", 30, [](Settings& s, double v) { s.select.kill_wait = to_duration(v); }},
    {"CompleteWait", 0, [](Settings& s, double v) { s.job_ends.complete_wait = to_duration(v); }},
    {"PriorityWeightAge", 0, [](Settings& s, double v) { s.priority.weight_age = v; }},
    {"PriorityMaxAge", 7 * 86400, [](Settings& s, double v) { s.priority.max_age = v; }},
    {"PriorityCalcPeriod", 300,
     [](Settings& s, double v) { s.priority.calc_period = to_duration(v); }},
    {"PriorityWeightJobSize", 0, [](Settings& s, double v) { s.priority.weight_size = v; }},
    {"PriorityFavorSmall", 0, [](Settings& s, double v) { s.priority.favor_small = v != 0; }},
    {"SMALL_RELATIVE_TO_TIME", 0,
     [](Settings& s, double v) { s.priority.relative_to_time = v != 0; }},
    {"PriorityWeightFairshare", 0, [](Settings& s, double v) { s.priority.weight_fair_share = v; }},
    {"PriorityWeightQOS", 0, [](Settings& s, double v) { s.priority.weight_qos = v; }},
    // none, partition_prio, qos; OFF, CANCEL, REQUEUE
    {"PreemptType", 0,
     [](Settings& s, double v) {
       s.preempt.type = static_cast<Settings::Preempt::Type>(count_of(v));
     }},
    {"PreemptMode", 0, [](Settings& s, double v) { s.preempt.mode = count_of(v); }},
    {"PreemptExemptTime", 0, [](Settings& s, double v) { s.preempt.exempt_time = to_duration(v); }},
    {"preempt_reorder_count", 1,
     [](Settings& s, double v) { s.preempt.reorder_count = count_of(v); }},
    {"preempt_youngest_first", 0, [](Settings& s, double v) { s.preempt.youngest_first = v != 0; }},
    {"preempt_strict_order", 0, [](Settings& s, double v) { s.preempt.strict_order = v != 0; }},
    {"MAX_TRES", 0, [](Settings& s, double v) { s.priority.max_tres = v != 0; }},
    {"safe_limits", 0, [](Settings& s, double v) { s.priority.safe_limits = v != 0; }},
    {"PriorityDecayHalfLife", 7 * 86400,
     [](Settings& s, double v) { s.priority.half_life = to_duration(v); }},
    {"PriorityWeightPartition", 0, [](Settings& s, double v) { s.priority.weight_partition = v; }},
};

// Some parameters have the value of another one by default.
void set_derived_defaults(Settings& settings) {
  Settings::Backfill& backfill = settings.backfill;
  if (backfill.max_time == 0) backfill.max_time = backfill.interval;
  if (backfill.node_space_size == 0) backfill.node_space_size = backfill.max_job_test;
}

}  // namespace

const std::map<std::string, double>& usual_parameters() {
  static const std::map<std::string, double> kDefaults = [] {
    std::map<std::string, double> defaults;
    for (const Parameter& parameter : kParameters)
      defaults[parameter.name] = parameter.default_value;
    defaults["bf_max_time"] = defaults["bf_interval"];
    defaults["bf_node_space_size"] = defaults["bf_max_job_test"];
    return defaults;
  }();
  return kDefaults;
}

Settings to_settings(const std::map<std::string, double>& values) {
  for (const auto& [name, value] : values)
    if (usual_parameters().count(name) == 0)
      throw InvalidInstance("slurm: parameter '" + name + "' is not known");
  Settings settings;
  for (const Parameter& parameter : kParameters) {
    const auto value = values.find(parameter.name);
    parameter.set(settings, value == values.end() ? parameter.default_value : value->second);
  }
  set_derived_defaults(settings);
  return settings;
}

}  // namespace cosched::slurm
