#include "cosched/slurm/model/settings.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Where each parameter goes; nothing else changes with it.
TEST(SlurmSettings, EveryParameterReachesItsReader) {
  using Get = double (*)(const Settings&);
  const std::map<std::string, Get> readers{
      {"bf_interval", [](const Settings& s) -> double { return s.backfill.interval; }},
      {"bf_resolution", [](const Settings& s) -> double { return s.backfill.resolution; }},
      {"bf_window", [](const Settings& s) -> double { return s.backfill.window; }},
      {"bf_max_time", [](const Settings& s) -> double { return s.backfill.max_time; }},
      {"bf_max_job_test", [](const Settings& s) -> double { return s.backfill.max_job_test; }},
      {"bf_node_space_size",
       [](const Settings& s) -> double { return s.backfill.node_space_size; }},
      {"bf_max_job_start", [](const Settings& s) -> double { return s.backfill.max_job_start; }},
      {"bf_max_job_user", [](const Settings& s) -> double { return s.backfill.limits.user; }},
      {"bf_max_job_part", [](const Settings& s) -> double { return s.backfill.limits.partition; }},
      {"bf_max_job_user_part",
       [](const Settings& s) -> double { return s.backfill.limits.user_and_partition; }},
      {"bf_min_age_reserve",
       [](const Settings& s) -> double { return s.reservation_minimums.min_age; }},
      {"bf_min_prio_reserve",
       [](const Settings& s) -> double { return s.reservation_minimums.min_priority; }},
      {"bf_window_linear", [](const Settings& s) -> double { return s.select.window_linear; }},
      {"default_queue_depth", [](const Settings& s) -> double { return s.main.queue_depth; }},
      {"partition_job_depth", [](const Settings& s) -> double { return s.main.partition_depth; }},
      {"sched_max_job_start", [](const Settings& s) -> double { return s.main.max_job_start; }},
      {"batch_sched_delay", [](const Settings& s) -> double { return s.main.batch_sched_delay; }},
      {"sched_interval", [](const Settings& s) -> double { return s.main.interval; }},
      {"sched_min_interval", [](const Settings& s) -> double { return s.main.min_interval; }},
      {"defer", [](const Settings& s) -> double { return s.main.defer; }},
      {"builtin", [](const Settings& s) -> double { return s.backfill.is_off; }},
      {"cons_tres", [](const Settings& s) -> double { return s.select.cons_tres; }},
      {"multifactor", [](const Settings& s) -> double { return s.priority.multifactor; }},
      {"age_counts", [](const Settings& s) -> double { return s.priority.ages_count; }},
      {"OverTimeLimit", [](const Settings& s) -> double { return s.job_ends.over_time_limit; }},
      {"KillWait", [](const Settings& s) -> double { return s.select.kill_wait; }},
      {"CompleteWait", [](const Settings& s) -> double { return s.job_ends.complete_wait; }},
      {"PriorityWeightAge", [](const Settings& s) -> double { return s.priority.weight_age; }},
      {"PriorityMaxAge", [](const Settings& s) -> double { return s.priority.max_age; }},
      {"PriorityCalcPeriod", [](const Settings& s) -> double { return s.priority.calc_period; }},
      {"PriorityWeightJobSize", [](const Settings& s) -> double { return s.priority.weight_size; }},
      {"PriorityFavorSmall", [](const Settings& s) -> double { return s.priority.favor_small; }},
      {"SMALL_RELATIVE_TO_TIME",
       [](const Settings& s) -> double { return s.priority.relative_to_time; }},
      {"bf_max_job_array_resv",
       [](const Settings& s) -> double { return s.backfill.max_job_array_resv; }},
      {"bf_one_resv_per_job",
       [](const Settings& s) -> double { return s.backfill.one_resv_per_job; }},
      {"since_24", [](const Settings& s) -> double { return s.is_24_11; }},
      {"Epilog", [](const Settings& s) -> double { return s.job_ends.has_epilog; }},
      {"ResvOverRun", [](const Settings& s) -> double { return s.job_ends.resv_over_run; }},
      {"ReturnToService", [](const Settings& s) -> double { return s.job_ends.return_to_service; }},
      {"PriorityWeightFairshare",
       [](const Settings& s) -> double { return s.priority.weight_fair_share; }},
      {"PriorityWeightQOS", [](const Settings& s) -> double { return s.priority.weight_qos; }},
      {"PreemptType",
       [](const Settings& s) -> double { return static_cast<double>(s.preempt.type); }},
      {"PreemptMode", [](const Settings& s) -> double { return s.preempt.mode; }},
      {"PreemptExemptTime", [](const Settings& s) -> double { return s.preempt.exempt_time; }},
      {"preempt_reorder_count",
       [](const Settings& s) -> double { return s.preempt.reorder_count; }},
      {"preempt_youngest_first",
       [](const Settings& s) -> double { return s.preempt.youngest_first; }},
      {"preempt_strict_order", [](const Settings& s) -> double { return s.preempt.strict_order; }},
      {"MAX_TRES", [](const Settings& s) -> double { return s.priority.max_tres; }},
      {"safe_limits", [](const Settings& s) -> double { return s.priority.safe_limits; }},
      {"PriorityDecayHalfLife", [](const Settings& s) -> double { return s.priority.half_life; }},
      {"PriorityWeightPartition",
       [](const Settings& s) -> double { return s.priority.weight_partition; }},
  };
  ASSERT_EQ(readers.size(), usual_parameters().size());
  for (const auto& [parameter, usual] : usual_parameters()) {
    const double other = usual == 0 ? 1 : usual + 7;
    const Settings settings = to_settings({{parameter, other}});
    for (const auto& [name, reader] : readers) {
      const bool follows = (name == "bf_max_time" && parameter == "bf_interval") ||
                           (name == "bf_node_space_size" && parameter == "bf_max_job_test");
      const double expected = name == parameter || follows ? other : usual_parameters().at(name);
      EXPECT_DOUBLE_EQ(reader(settings), expected) << name << " where " << parameter << " is given";
    }
  }
}

TEST(SlurmSettings, UnlimitedIsNever) {
  const Settings settings = to_settings({{"OverTimeLimit", kInfinity}});
  EXPECT_EQ(settings.job_ends.over_time_limit, kNever);
  EXPECT_EQ(settings.select.over_time_limit, kNever);
}

TEST(SlurmSettings, RefusesANameThatIsNotKnown) {
  EXPECT_THROW(to_settings({{"bf_intervall", 30}}), InvalidInstance);
}

}  // namespace
}  // namespace cosched::slurm
