#include "slurm_records.hpp"

namespace cosched::slurm::bindings {
namespace {

// Seconds: the clocks tick from the controller's start on, and each tick takes computing time.
constexpr double kMinClockTime = -366 * 86400.0;
constexpr double kMaxClockTime = 1e11;

double require_range(double value, const char* name, double low) {
  if (!(value >= low && value <= kMaxClockTime))
    throw InvalidInstance("clocks: " + std::string(name) + " = " + std::to_string(value) +
                          ": expected seconds in " + std::to_string(std::int64_t(low)) + "..1e11");
  return value;
}

void bind_shares(py::module_& module) {
  RecordClass<Share>(module, "Share", "What a job has of a node; memory in MB.")
      .required("node", &Share::node)
      .required("cores", &Share::cores)
      .field("memory", &Share::memory)
      .finish();
  RecordClass<GpuShare>(module, "GpuShare", "GPUs of one type that a job has on a node.")
      .required("node", &GpuShare::node)
      .required("type", &GpuShare::type)
      .required("count", &GpuShare::count)
      .finish();
  RecordClass<RunningState>(module, "RunningState",
                            "Since when a job runs (s), and what it has of each node.")
      .required("start", &RunningState::start)
      .field(
          "shares", [](auto& state) -> auto& { return state.shares.nodes; })
      .field(
          "gpus", [](auto& state) -> auto& { return state.shares.gpus; })
      .finish();
  RecordClass<QueueState>(module, "QueueState",
                          "The priority of a waiting job, and since when its age counts (s).")
      .required("priority", &QueueState::priority)
      .required("age_since", &QueueState::age_since)
      .finish();
  RecordClass<RecordedRun>(module, "RecordedRun",
                           "When and where a job ran (s); nan: it did not start, or not end.")
      .required("start", &RecordedRun::start)
      .required("end", &RecordedRun::end)
      .field(
          "shares", [](auto& run) -> auto& { return run.shares.nodes; })
      .field(
          "gpus", [](auto& run) -> auto& { return run.shares.gpus; })
      .finish();
}

void bind_job_columns(py::module_& module) {
  RecordClass<JobColumns>(module, "JobColumns",
                          "What all jobs have, as columns of one length; times in s.")
      .required("submit", &JobColumns::submit)
      .required("nodes", &JobColumns::nodes)
      .required("cpus", &JobColumns::cpus)
      .required("limit", &JobColumns::limit)
      .required("runtime", &JobColumns::runtime)
      .required("partition", &JobColumns::partition)
      .required("user", &JobColumns::user)
      .required("nice", &JobColumns::nice)
      .required("priority", &JobColumns::priority)
      .finish();
}

void bind_job(py::module_& module) {
  const std::string kind_name = module.attr("__name__").cast<std::string>() + ".DependencyKind";
  Annotation<Dependency::Kind>::class_name() = kind_name;
  def_names<Dependency::Kind>(module, "DependencyKind",
                              {{"after", Dependency::Kind::after},
                               {"afterany", Dependency::Kind::after_any},
                               {"afterok", Dependency::Kind::after_ok},
                               {"afternotok", Dependency::Kind::after_not_ok}});
  RecordClass<Dependency>(module, "Dependency", "Jobs, by row, that a job waits for.")
      .required("kind", &Dependency::kind)
      .required("jobs", &Dependency::jobs)
      .finish();
  RecordClass<JobRecord>(module, "Job",
                         "What one job has beyond its row of the columns; nodes, user and nice "
                         "hold instead of the columns.")
      .field("nodes", &JobRecord::nodes)
      .field("user", &JobRecord::user)
      .field("nice", &JobRecord::nice)
      .field("max_nodes", &JobRecord::max_nodes)
      .field(
          "tasks", [](auto& record) -> auto& { return record.job.request.tasks; })
      .field(
          "task_cores", [](auto& record) -> auto& { return record.job.request.task_cores; })
      .field(
          "is_exclusive", [](auto& record) -> auto& { return record.job.request.is_exclusive; })
      .field(
          "memory", [](auto& record) -> auto& { return record.job.request.memory; })
      .field(
          "is_memory_by_core",
          [](auto& record) -> auto& { return record.job.request.is_memory_by_core; })
      .field(
          "wants_all_memory",
          [](auto& record) -> auto& { return record.job.request.wants_all_memory; })
      .field(
          "gpus", [](auto& record) -> auto& { return record.job.request.gpus; })
      .field(
          "are_gpus_by_node",
          [](auto& record) -> auto& { return record.job.request.are_gpus_by_node; })
      .field(
          "gpu_type", [](auto& record) -> auto& { return record.job.request.gpu_type; })
      .field(
          "partitions", [](auto& record) -> auto& { return record.job.partitions; })
      .field(
          "node_set", [](auto& record) -> auto& { return record.job.node_set; })
      .field(
          "alternative_sets", [](auto& record) -> auto& { return record.job.alternative_sets; })
      .field(
          "association", [](auto& record) -> auto& { return record.job.association; })
      .field(
          "qos", [](auto& record) -> auto& { return record.job.qos; })
      .field(
          "qos_factor", [](auto& record) -> auto& { return record.job.qos_factor; })
      .field(
          "can_requeue", [](auto& record) -> auto& { return record.job.can_requeue; })
      .field(
          "exits_with_error", [](auto& record) -> auto& { return record.job.exits_with_error; })
      .field(
          "age_from", [](auto& record) -> auto& { return record.job.age_from; })
      .field(
          "begin", [](auto& record) -> auto& { return record.job.conditions.begin; })
      .field(
          "is_held", [](auto& record) -> auto& { return record.job.conditions.is_held; })
      .field(
          "singleton", [](auto& record) -> auto& { return record.job.conditions.singleton; })
      .field(
          "singleton_name",
          [](auto& record) -> auto& { return record.job.conditions.singleton_name; })
      .field(
          "dependencies", [](auto& record) -> auto& { return record.job.conditions.dependencies; })
      .field(
          "array", [](auto& record) -> auto& { return record.job.conditions.array; })
      .field(
          "array_limit", [](auto& record) -> auto& { return record.job.conditions.array_limit; })
      .field(
          "reservation", [](auto& record) -> auto& { return record.job.conditions.reservation; })
      .field(
          "licences", [](auto& record) -> auto& { return record.job.conditions.licences; })
      .field(
          "running_state", [](auto& record) -> auto& { return record.job.running_state; })
      .field(
          "queue_state", [](auto& record) -> auto& { return record.job.queue_state; })
      .finish();
}

void bind_limits(py::module_& module) {
  RecordClass<LimitRecord>(module, "Limit",
                           "A limit by its name in sacctmgr; the number of its TRES (-1: of jobs "
                           "or time), its value, and what ended jobs used of it.")
      .required("name", &LimitRecord::name)
      .field("tres", &LimitRecord::tres)
      .required("value", &LimitRecord::value)
      .field("used_before", &LimitRecord::used_before)
      .finish();
  RecordClass<LimitsRecord>(module, "Limits",
                            "Limits of an association or a QOS, and how many of its waiting jobs "
                            "may accrue age (-1: all).")
      .field("limits", &LimitsRecord::limits)
      .field(
          "max_accruing_group",
          [](auto& record) -> auto& { return record.accrual.max_accruing_group; })
      .field(
          "max_accruing_account",
          [](auto& record) -> auto& { return record.accrual.max_accruing_account; })
      .field(
          "max_accruing_user",
          [](auto& record) -> auto& { return record.accrual.max_accruing_user; })
      .field(
          "max_accruing", [](auto& record) -> auto& { return record.accrual.max_accruing; })
      .finish();
  RecordClass<QosRecord>(module, "Qos", "A QOS: its limits, factors, flags and preemption.")
      .field("limits", &QosRecord::limits)
      .field(
          "overrides_partition_qos",
          [](auto& qos) -> auto& { return qos.factors.overrides_partition_qos; })
      .field(
          "denies_on_limit", [](auto& qos) -> auto& { return qos.factors.denies_on_limit; })
      .field(
          "is_usage_factor_safe",
          [](auto& qos) -> auto& { return qos.factors.is_usage_factor_safe; })
      .field(
          "no_decay", [](auto& qos) -> auto& { return qos.factors.no_decay; })
      .field(
          "no_reserve", [](auto& qos) -> auto& { return qos.factors.no_reserve; })
      .field(
          "ignores_partition_nodes",
          [](auto& qos) -> auto& { return qos.factors.ignores_partition_nodes; })
      .field(
          "usage_factor", [](auto& qos) -> auto& { return qos.factors.usage_factor; })
      .field(
          "limit_factor", [](auto& qos) -> auto& { return qos.factors.limit_factor; })
      .field(
          "preempts", [](auto& qos) -> auto& { return qos.factors.preempts; })
      .field(
          "priority", [](auto& qos) -> auto& { return qos.factors.priority; })
      .field(
          "preempt_mode", [](auto& qos) -> auto& { return qos.factors.preempt_mode; })
      .field(
          "grace_time", [](auto& qos) -> auto& { return qos.factors.grace_time; })
      .field(
          "preempt_exempt_time", [](auto& qos) -> auto& { return qos.factors.preempt_exempt_time; })
      .finish();
  RecordClass<AssociationRecord>(module, "Association",
                                 "A user's share of an account, or an account's of its parent "
                                 "(shares below 0: Fairshare=parent; usage in CPU seconds).")
      .required(
          "parent", [](auto& record) -> auto& { return record.association.parent; })
      .required(
          "shares", [](auto& record) -> auto& { return record.association.shares; })
      .required(
          "is_user", [](auto& record) -> auto& { return record.association.is_user; })
      .field("limits", &AssociationRecord::limits)
      .field(
          "initial_usage", [](auto& record) -> auto& { return record.association.initial_usage; })
      .field(
          "initial_factor", [](auto& record) -> auto& { return record.association.initial_factor; })
      .finish();
}

void bind_machine(py::module_& module) {
  RecordClass<MachineRecord>(module, "Machine",
                             "Nodes, QOS and licences of a cluster; lists by node are empty where "
                             "jobs have whole nodes.")
      .required(
          "nodes", [](auto& machine) -> auto& { return machine.columns.nodes; })
      .required(
          "cpus", [](auto& machine) -> auto& { return machine.columns.cpus; })
      .required("node_cores", &MachineRecord::node_cores)
      .required("node_lines", &MachineRecord::node_lines)
      .required("node_sets", &MachineRecord::node_sets)
      .required(
          "node_memory", [](auto& machine) -> auto& { return machine.columns.node_memory; })
      .required(
          "node_gpus", [](auto& machine) -> auto& { return machine.columns.node_gpus; })
      .required("node_weight", &MachineRecord::node_weight)
      .required("qos", &MachineRecord::qos)
      .required(
          "priority_tres", [](auto& machine) -> auto& { return machine.columns.priority_tres; })
      .required("down_nodes", &MachineRecord::down_nodes)
      .required("licences", &MachineRecord::licences)
      .finish();
  RecordClass<PartitionRecord>(module, "Partition", "A partition; nodes as ranges, times in s.")
      .required("nodes", &PartitionRecord::nodes)
      .field(
          "tier", [](auto& partition) -> auto& { return partition.rules.tier; })
      .field("max_time", &PartitionRecord::max_time)
      .field(
          "job_factor", [](auto& partition) -> auto& { return partition.rules.job_factor; })
      .field(
          "min_nodes", [](auto& partition) -> auto& { return partition.rules.min_nodes; })
      .field(
          "max_nodes", [](auto& partition) -> auto& { return partition.rules.max_nodes; })
      .field(
          "qos", [](auto& partition) -> auto& { return partition.rules.qos; })
      .field(
          "billing", [](auto& partition) -> auto& { return partition.rules.billing; })
      .field(
          "preempt_mode", [](auto& partition) -> auto& { return partition.rules.preempt_mode; })
      .field("grace_time", &PartitionRecord::grace_time)
      .finish();
}

void bind_reservations_and_events(py::module_& module) {
  RecordClass<ReservationRecord>(module, "Reservation",
                                 "An advance reservation; nodes as ranges, times in s.")
      .required("created_at", &ReservationRecord::created_at)
      .required("begin", &ReservationRecord::begin)
      .required("end", &ReservationRecord::end)
      .required("nodes", &ReservationRecord::nodes)
      .field("is_maintenance", &ReservationRecord::is_maintenance)
      .field("has_all_nodes", &ReservationRecord::has_all_nodes)
      .finish();
  const std::string kind_name = module.attr("__name__").cast<std::string>() + ".AdminEventKind";
  Annotation<AdminEvent::Kind>::class_name() = kind_name;
  def_names<AdminEvent::Kind>(module, "AdminEventKind",
                              {{"release", AdminEvent::Kind::release},
                               {"reserve", AdminEvent::Kind::reserve},
                               {"down", AdminEvent::Kind::down},
                               {"drain", AdminEvent::Kind::drain},
                               {"resume", AdminEvent::Kind::resume}});
  RecordClass<AdminEventRecord>(module, "AdminEvent",
                                "What an administrator does at a time (s): to a job (by row) or "
                                "to nodes (ranges).")
      .required("time", &AdminEventRecord::time)
      .required("kind", &AdminEventRecord::kind)
      .field("job", &AdminEventRecord::job)
      .field("nodes", &AdminEventRecord::nodes)
      .finish();
}

void bind_settings(py::module_& module) {
  RecordClass<SettingsRecord> settings(
      module, "Settings",
      "Parameters of slurm.conf by their names, in seconds and counts; None: Slurm's default.");
  for (const auto& parameter : usual_parameters()) {
    const std::string name = parameter.first;
    settings.field(
        name.c_str(), [name](auto& record) -> auto& { return record.values.at(name); });
  }
  settings.finish();
}

void bind_clocks(py::module_& module) {
  RecordClass<Slice>(module, "Slice",
                     "What a recorded cycle did between two yields of its locks (s); resume_time "
                     "is inf where it gave up, nan at the end of its queue.")
      .required("end_time", &Slice::end_time)
      .required("jobs_examined", &Slice::jobs_examined)
      .required("resume_time", &Slice::resume_time)
      .field("ends_mid_job", &Slice::ends_mid_job)
      .finish();
  RecordClass<ClocksRecord>(module, "Clocks",
                            "Parameters of the clocks of slurmctld (s), and recorded times that "
                            "replace those of the rules.")
      .required(
          "controller_start", [](auto& record) -> auto& { return record.clocks.controller_start; })
      .required("epoch", &ClocksRecord::epoch)
      .required(
          "launch", [](auto& record) -> auto& { return record.clocks.launch_delay; })
      .required(
          "epilog", [](auto& record) -> auto& { return record.clocks.epilog_delay; })
      .required(
          "noise", [](auto& record) -> auto& { return record.clocks.relative_noise; })
      .required("noise_seed", &ClocksRecord::noise_seed)
      .required(
          "tick_period", [](auto& record) -> auto& { return record.clocks.tick_period; })
      .required(
          "tick_offset", [](auto& record) -> auto& { return record.clocks.tick_offset; })
      .required(
          "decay_after", [](auto& record) -> auto& { return record.clocks.decay_after; })
      .required(
          "sleep_extra", [](auto& record) -> auto& { return record.clocks.sleep_extra; })
      .required(
          "nap_extra", [](auto& record) -> auto& { return record.clocks.nap_extra; })
      .required(
          "cycle_cost", [](auto& record) -> auto& { return record.clocks.cycle_cost; })
      .required(
          "test_cost", [](auto& record) -> auto& { return record.clocks.test_cost; })
      .required(
          "start_cost", [](auto& record) -> auto& { return record.clocks.start_cost; })
      .field(
          "distant_time", [](auto& record) -> auto& { return record.clocks.periods.distant_time; })
      .field(
          "cycle_times", [](auto& record) -> auto& { return record.clocks.cycle_times; })
      .field(
          "slices", [](auto& record) -> auto& { return record.clocks.slices; })
      .field(
          "limit_check_times",
          [](auto& record) -> auto& { return record.clocks.limit_check_times; })
      .field(
          "main_passes", [](auto& record) -> auto& { return record.clocks.main_passes; })
      .field(
          "run_lengths", [](auto& record) -> auto& { return record.clocks.run_lengths; })
      .field(
          "start_delays", [](auto& record) -> auto& { return record.clocks.start_delays; })
      .field(
          "epilog_delays", [](auto& record) -> auto& { return record.clocks.epilog_delays; })
      .field(
          "watched_jobs", [](auto& record) -> auto& { return record.clocks.watched_jobs; })
      .finish();
  RecordClass<ArrivalColumns>(module, "Arrivals",
                              "Submissions of a replication, as columns of one length: copies of "
                              "jobs (by row), when they come, and how long they run (s).")
      .required("template_job", &ArrivalColumns::template_job)
      .required("submit", &ArrivalColumns::submit)
      .required("run_length", &ArrivalColumns::run_length)
      .finish();
}

void bind_decision_note(py::module_& module) {
  const std::string action_name = module.attr("__name__").cast<std::string>() + ".Action";
  Annotation<Action>::class_name() = action_name;
  def_names<Action>(module, "Action",
                    {{"start_main", Action::start_main},
                     {"start_backfill", Action::start_backfill},
                     {"wait_resources", Action::wait_resources},
                     {"wait_priority", Action::wait_priority},
                     {"plan", Action::plan},
                     {"finish", Action::finish},
                     {"timeout", Action::timeout},
                     {"wait_licences", Action::wait_licences},
                     {"wait_limit", Action::wait_limit},
                     {"preempt", Action::preempt},
                     {"suspend", Action::suspend},
                     {"resume", Action::resume},
                     {"wait_reservation", Action::wait_reservation},
                     {"wait_reserved_nodes", Action::wait_reserved_nodes}});
  RecordClass<DecisionNote>(module, "DecisionNote",
                            "What happened to a job at a time (s), or why it waits; start, end, "
                            "nodes and partition are those of a plan.")
      .required("time", &DecisionNote::time)
      .required("job", &DecisionNote::job)
      .required("action", &DecisionNote::action)
      .field("start", &DecisionNote::start)
      .field("end", &DecisionNote::end)
      .field("nodes", &DecisionNote::nodes)
      .field("partition", &DecisionNote::partition)
      .field("limit", &DecisionNote::limit)
      .finish();
}

void bind_results(py::module_& module) {
  bind_decision_note(module);
  RecordClass<OutcomeRecord>(module, "Outcome",
                             "What a simulation returns, by job; times in s, nan where a job did "
                             "not start or end. The nodes of all jobs are one after another, "
                             "those of job j from node_begin[j] on.")
      .required("start", &OutcomeRecord::start)
      .required("end", &OutcomeRecord::end)
      .required("start_exact", &OutcomeRecord::start_exact)
      .required("end_exact", &OutcomeRecord::end_exact)
      .required("node_begin", &OutcomeRecord::node_begin)
      .required("node", &OutcomeRecord::node)
      .required("cores", &OutcomeRecord::cores)
      .required("scheduler", &OutcomeRecord::scheduler)
      .required("restarts", &OutcomeRecord::restarts)
      .required("partition", &OutcomeRecord::partition)
      .required("is_killed", &OutcomeRecord::is_killed)
      .required("core_ids", &OutcomeRecord::core_ids)
      .required("pause_job", &OutcomeRecord::pause_job)
      .required("pause_begin", &OutcomeRecord::pause_begin)
      .required("pause_end", &OutcomeRecord::pause_end)
      .required("cycle_times", &OutcomeRecord::cycle_times)
      .required("notes", &OutcomeRecord::notes)
      .required("blocked_by_limit", &OutcomeRecord::blocked_by_limit)
      .finish();
  RecordClass<ReplicationsRecord>(module, "ReplicationTable",
                                  "Tables with a row for each replication and a column for each "
                                  "initial job (s; nan: never), and the first outcome.")
      .required("start_times", &ReplicationsRecord::start_times)
      .required("kill_times", &ReplicationsRecord::kill_times)
      .required("paused_seconds", &ReplicationsRecord::paused_seconds)
      .required("blocked_by_limit", &ReplicationsRecord::blocked_by_limit)
      .field("first_outcome", &ReplicationsRecord::first_outcome)
      .finish();
  RecordClass<LimitBlock>(module, "LimitBlock",
                          "A limit that keeps a job: its reason as squeue writes it, its value, "
                          "what is used of it, and the running jobs (by row) that count in it.")
      .required("reason", &LimitBlock::reason)
      .required("limit", &LimitBlock::limit)
      .required("used", &LimitBlock::used)
      .required("blocking_jobs", &LimitBlock::blocking_jobs)
      .finish();
  RecordClass<SampleRecord>(module, "Sample",
                            "Fair-share factors by association and priorities by job (nan: it "
                            "does not wait) at one time (s).")
      .required("time", &SampleRecord::time)
      .required("factors", &SampleRecord::factors)
      .required("priorities", &SampleRecord::priorities)
      .finish();
}

// Nodes of all jobs one after another, and where those of each job begin.
void set_nodes(const Outcome& outcome, OutcomeRecord& record) {
  std::vector<int> nodes_of_jobs;
  std::vector<std::int64_t> begins{0};
  for (const auto& nodes_of_job : outcome.nodes) {
    nodes_of_jobs.insert(nodes_of_jobs.end(), nodes_of_job.begin(), nodes_of_job.end());
    begins.push_back(static_cast<std::int64_t>(nodes_of_jobs.size()));
  }
  record.node_begin = frozen(std::move(begins));
  record.node = array_of(nodes_of_jobs);
}

std::vector<int> concatenated(const std::vector<std::vector<int>>& parts) {
  std::vector<int> numbers;
  for (const auto& part : parts) numbers.insert(numbers.end(), part.begin(), part.end());
  return numbers;
}

void set_pauses(const Outcome& outcome, OutcomeRecord& record) {
  std::vector<int> jobs;
  std::vector<double> begins, ends;
  for (const Pause& pause : outcome.pauses) {
    jobs.push_back(pause.job);
    begins.push_back(pause.begin);
    ends.push_back(pause.end);
  }
  record.pause_job = array_of(jobs);
  record.pause_begin = array_of(begins);
  record.pause_end = array_of(ends);
}

}  // namespace

void bind_slurm_records(py::module_& module) {
  bind_shares(module);
  bind_job_columns(module);
  bind_job(module);
  bind_limits(module);
  bind_machine(module);
  bind_reservations_and_events(module);
  bind_settings(module);
  bind_clocks(module);
  bind_results(module);
}

Clocks to_clocks(const ClocksRecord& record) {
  Clocks clocks = record.clocks;
  const auto require_time = [](double value, const char* name) {
    require_range(value, name, kMinClockTime);
  };
  require_time(clocks.controller_start, "controller_start");
  clocks.epoch = static_cast<Second>(require_range(record.epoch, "epoch", -kMaxClockTime));
  require_time(clocks.launch_delay, "launch");
  require_time(clocks.epilog_delay, "epilog");
  require_time(clocks.relative_noise, "noise");
  clocks.noise_seed = static_cast<std::uint64_t>(require_range(record.noise_seed, "noise_seed", 0));
  require_range(clocks.tick_period, "tick_period", 1e-3);
  require_time(clocks.tick_offset, "tick_offset");
  require_time(clocks.decay_after, "decay_after");
  require_time(clocks.sleep_extra, "sleep_extra");
  require_time(clocks.nap_extra, "nap_extra");
  require_time(clocks.cycle_cost, "cycle_cost");
  require_time(clocks.test_cost, "test_cost");
  require_time(clocks.start_cost, "start_cost");
  if (clocks.periods.distant_time != kInfinity)
    require_range(clocks.periods.distant_time, "distant_time", -kMaxClockTime);
  return clocks;
}

std::map<int, std::string> limit_by_job(const std::vector<std::pair<int, std::string>>& jobs) {
  return {jobs.begin(), jobs.end()};
}

OutcomeRecord to_record(const Outcome& outcome) {
  OutcomeRecord record;
  record.start = array_of(outcome.start);
  record.end = array_of(outcome.end);
  record.start_exact = array_of(outcome.start_exact);
  record.end_exact = array_of(outcome.end_exact);
  set_nodes(outcome, record);
  record.cores = array_of(concatenated(outcome.cores));
  record.scheduler = array_of(outcome.scheduler);
  record.restarts = array_of(outcome.restarts);
  record.partition = array_of(outcome.partition);
  record.is_killed = array_of(outcome.is_killed);
  record.core_ids = array_of(concatenated(outcome.core_ids));
  set_pauses(outcome, record);
  record.cycle_times = array_of(outcome.cycle_times);
  for (const DecisionNote& note : outcome.notes) record.notes.append(py::cast(note));
  record.blocked_by_limit = limit_by_job(outcome.blocked_by_limit);
  return record;
}

}  // namespace cosched::slurm::bindings
