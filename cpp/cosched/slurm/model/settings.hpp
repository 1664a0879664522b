// slurm.conf as the rules use it: typed, and read at one place.
#pragma once

#include <map>
#include <string>

#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

/// Sections are the readers; a member has the name of Slurm's parameter, without its prefix.
struct Settings {
  struct Priority {  // RULES.md 1
    bool multifactor = false;
    bool ages_count = false;  // there is a slurmdbd
    Second calc_period = 0;
    double weight_age = 0;
    double max_age = 0;
    double weight_size = 0;
    double weight_partition = 0;
    double weight_fair_share = 0;
    double weight_qos = 0;
    Second half_life = 0;  // PriorityDecayHalfLife, 0 = usage does not decay
    bool favor_small = false;
    bool relative_to_time = false;
    bool safe_limits = false;  // AccountingStorageEnforce=safe
    bool max_tres = false;     // PriorityFlags=MAX_TRES
  };
  struct ReservationMinimums {  // who blocks others, or reserves: RULES.md 2.5
    Second min_age = 0;
    double min_priority = 0;
  };
  struct Main {  // RULES.md 2
    Second batch_sched_delay = 0;
    Second interval = 0;
    double min_interval = 0;
    bool defer = false;
    int queue_depth = 0;
    int partition_depth = 0;
    int max_job_start = 0;  // 0 = no limit, as of all that are called max_job_start
  };
  struct TestLimits {  // tests a cycle, 0 = no limit: RULES.md 4.8
    int user = 0;
    int partition = 0;
    int user_and_partition = 0;
  };
  struct Backfill {  // RULES.md 3, 4
    Second interval = 0;
    Second resolution = 0;
    Second window = 0;
    Second max_time = 0;
    int max_job_test = 0;
    int node_space_size = 0;
    int max_job_start = 0;
    int max_job_array_resv = 0;     // bf_max_job_array_resv
    bool one_resv_per_job = false;  // bf_one_resv_per_job
    TestLimits limits;
    bool is_off = false;  // there is no such thread: sched/builtin
  };
  struct Select {  // RULES.md 5
    bool cons_tres = false;
    int window_linear = 0;
    Second over_time_limit = 0;
    Second kill_wait = 0;
  };
  struct Preempt {  // RULES.md 15
    enum class Type : char { none, partition, qos };
    Type type = Type::none;
    int mode = 0;  // a Preemption::Mode
    Second exempt_time = 0;
    int reorder_count = 0;
    bool youngest_first = false;
    bool strict_order = false;
    bool is_enabled() const { return type != Type::none && mode != 0; }
    bool suspends_jobs() const { return type == Type::partition && mode == 3; }
  };
  struct JobEnds {  // RULES.md 6
    Second over_time_limit = 0;
    Second complete_wait = 0;
    bool has_epilog = false;    // there is an Epilog
    Second resv_over_run = 0;   // ResvOverRun
    int return_to_service = 0;  // 2: a node that answers is there, whatever took it out
  };

  bool is_24_11 = false;  // the rules of 24.11, else of 22.05
  Priority priority;
  ReservationMinimums reservation_minimums;
  Main main;
  Backfill backfill;
  Select select;
  JobEnds job_ends;
  Preempt preempt;
};

/// All parameters that are known, by Slurm's names, with Slurm's defaults: seconds, counts, 0 or 1.
const std::map<std::string, double>& usual_parameters();

/// The settings with these values, and with defaults for the other parameters.  Throws
/// InvalidInstance for an unknown name.
Settings to_settings(const std::map<std::string, double>& values);

}  // namespace cosched::slurm
