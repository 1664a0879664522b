#include "slurm_scenario.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::cluster::bindings {
namespace {

slurm::NodeBits to_bits(const Ranges& ranges, int nodes) {
  slurm::NodeBits bits(nodes);
  for (const auto& [first, last] : ranges) {
    if (first < 0 || last > nodes || first > last)
      throw InvalidInstance("slurm: nodes outside the machine");
    bits.add_range(first, last);
  }
  return bits;
}

std::vector<slurm::Partition> to_partitions(const py::dict& given, int nodes) {
  Named named(given, "partitions");
  const auto ranges = named.ranges("nodes");
  const auto tier = named.ints("tier"), min_nodes = named.ints("min_nodes"),
             max_nodes = named.ints("max_nodes");
  const auto max_time = named.reals("max_time"), factor = named.reals("job_factor");
  const auto qos = named.ints("qos"), mode = named.ints("preempt_mode");
  const auto grace = named.reals("grace");
  const auto billing = named["billing"].cast<std::vector<std::vector<double>>>();
  std::vector<slurm::Partition> parts;
  for (std::size_t k = 0; k < named.rows(); ++k)
    parts.push_back({to_bits(ranges[k], nodes), tier[k], slurm::to_duration(max_time[k]), factor[k],
                     min_nodes[k], max_nodes[k], qos[k], billing.at(k), mode[k],
                     slurm::to_duration(grace[k])});
  return parts;
}

// {"limits": [(name, TRES or -1, value, used)], "group_accrue": 3, ...}
slurm::Limits to_limits(Optional& given, std::size_t tres) {
  slurm::Limits limits;
  given.set("group_accrue", limits.max_accruing_group);
  given.set("account_accrue", limits.max_accruing_account);
  given.set("user_accrue", limits.max_accruing_user);
  given.set("accrue", limits.max_accruing);
  std::vector<std::tuple<std::string, int, double, double>> all;
  given.set("limits", all);
  for (const auto& [name, which, value, used] : all) {
    if (which < -1 || which >= static_cast<int>(tres))
      throw InvalidInstance("slurm: limit " + name + " of a TRES that is not there");
    limits.limits.push_back({slurm::kind_of(name), which, value, used});
  }
  return limits;
}

slurm::Qos to_qos(const py::dict& values, std::size_t tres) {
  Optional given(values, "a QOS");
  slurm::Qos qos{to_limits(given, tres)};
  given.set("over_partition", qos.overrides_partition_qos);
  given.set("deny", qos.denies_on_limit);
  given.set("safe_factor", qos.is_usage_factor_safe);
  given.set("no_decay", qos.no_decay);
  given.set("no_reserve", qos.no_reserve);
  given.set("any_nodes", qos.ignores_partition_nodes);
  given.set("usage_factor", qos.usage_factor);
  given.set("limit_factor", qos.limit_factor);
  given.set("preempts", qos.preempts);
  given.set("priority", qos.priority);
  given.set("preempt_mode", qos.preempt_mode);
  given.set("grace", qos.grace_time);
  given.set("exempt_time", qos.preempt_exempt_time);
  given.require_no_others();
  return qos;
}

std::size_t tres_of(const slurm::Machine& machine) {
  return slurm::kGpuTypes + machine.node_gpus.size();
}

slurm::Machine to_machine(const py::dict& given, const py::dict& partitions) {
  const Named named(given, "machine");
  slurm::Machine machine;
  machine.nodes = named["nodes"].cast<int>();
  machine.cpus = named["cpus"].cast<int>();
  machine.node_cores = copied<Ints>(named["node_cores"], "node_cores");
  for (const Ranges& line : named["lines"].cast<std::vector<Ranges>>())
    machine.node_lines.push_back(to_bits(line, machine.nodes));
  for (const Ranges& set : named["sets"].cast<std::vector<Ranges>>())
    machine.node_sets.push_back(to_bits(set, machine.nodes));
  machine.node_memory = named["node_memory"].cast<std::vector<std::int64_t>>();
  machine.node_gpus = named["node_gpus"].cast<std::vector<std::vector<int>>>();
  machine.node_weight = copied<Ints>(named["node_weight"], "node_weight");
  for (const auto& qos : named["qos"].cast<std::vector<py::dict>>())
    machine.qos.push_back(to_qos(qos, tres_of(machine)));
  machine.priority_tres = named["priority_tres"].cast<std::vector<double>>();
  machine.down_nodes = to_bits(named["down"].cast<Ranges>(), machine.nodes);
  machine.licences = copied<Ints>(named["licences"], "licences");
  machine.partitions = to_partitions(partitions, machine.nodes);
  return machine;
}

// (start, [(node, cores, MB)], [(node, type, GPUs)])
slurm::RunningState to_running(const py::tuple& given) {
  slurm::RunningState running{given[0].cast<double>(), {}};
  for (const auto& [node, cores, memory] :
       given[1].cast<std::vector<std::tuple<int, int, std::int64_t>>>())
    running.shares.nodes.push_back({node, cores, memory});
  for (const auto& [node, type, count] : given[2].cast<std::vector<std::tuple<int, int, int>>>())
    running.shares.gpus.push_back({node, type, count});
  return running;
}

// What jobs of `more`, (job, values by name), ask beyond whole nodes.
void ask_more(std::vector<slurm::Job>& jobs, const py::dict& more) {
  for (const auto& [row, values] : more) {
    slurm::Job& job = jobs.at(row.cast<std::size_t>());
    Optional given(values.cast<py::dict>(), "a job");
    slurm::ResourceRequest& ask = job.request;
    given.set("nodes", job.nodes);
    given.set("max_nodes", ask.max_nodes);
    given.set("tasks", ask.tasks);
    given.set("task_cores", ask.task_cores);
    given.set("exclusive", ask.is_exclusive);
    given.set("memory", ask.memory);
    given.set("memory_by_core", ask.is_memory_by_core);
    given.set("memory_all", ask.wants_all_memory);
    given.set("gpus", ask.gpus);
    given.set("gpus_by_node", ask.are_gpus_by_node);
    given.set("gpu_type", ask.gpu_type);
    given.set("partitions", job.partitions);
    given.set("set", job.node_set);
    given.set("alternatives", job.alternative_sets);
    given.set("association", job.association);
    given.set("qos", job.qos);
    given.set("user", job.user);
    given.set("qos_factor", job.qos_factor);
    given.set("nice", job.nice);
    given.set("requeue", job.can_requeue);
    given.set("fails", job.exits_with_error);
    given.set("age_from", job.age_from);
    slurm::Conditions& conditions = job.conditions;
    given.set("begin", conditions.begin);
    given.set("held", conditions.is_held);
    given.set("singleton", conditions.singleton);
    given.set("namesake", conditions.singleton_name);
    given.set("array", conditions.array);
    given.set("array_limit", conditions.array_limit);
    given.set("reservation", conditions.reservation);
    given.set("licences", conditions.licences);
    if (const auto running = given.find("running")) job.running_state = to_running(*running);
    if (const auto waiting = given.find("waiting")) {
      const auto [priority, accrues] = waiting->cast<std::pair<double, double>>();
      job.queue_state = {priority, accrues};
    }
    std::vector<std::pair<int, std::vector<int>>> after;
    given.set("after", after);
    for (const auto& [kind, of] : after)
      conditions.dependencies.push_back({static_cast<slurm::Dependency::Kind>(kind), of});
    given.require_no_others();
  }
}

std::vector<slurm::Job> to_jobs(const py::dict& given) {
  Named named(given, "jobs");
  const auto submit = named.reals("submit"), limit = named.reals("limit"),
             runtime = named.reals("runtime"), nice = named.reals("nice"),
             priority = named.reals("priority");
  const auto nodes = named.ints("nodes"), cpus = named.ints("cpus"),
             partition = named.ints("partition"), user = named.ints("user");
  std::vector<slurm::Job> jobs;
  for (std::size_t j = 0; j < named.rows(); ++j)
    jobs.push_back({submit[j], nodes[j], cpus[j], slurm::to_duration(limit[j]), runtime[j],
                    partition[j], user[j], nice[j], priority[j]});
  return jobs;
}

std::vector<slurm::Reservation> to_reservations(const py::list& given, int nodes) {
  std::vector<slurm::Reservation> all;
  for (const auto& one : given) {
    const py::tuple row = one.cast<py::tuple>();
    all.push_back({row[0].cast<double>(), row[1].cast<slurm::Second>(),
                   row[2].cast<slurm::Second>(), to_bits(row[3].cast<Ranges>(), nodes),
                   row[4].cast<bool>(), row[5].cast<bool>()});
  }
  return all;
}

std::vector<slurm::AdminEvent> to_outside(const py::list& given, int nodes) {
  std::vector<slurm::AdminEvent> all;
  for (const auto& one : given) {
    const py::tuple row = one.cast<py::tuple>();
    all.push_back({static_cast<slurm::AdminEvent::Kind>(row[1].cast<int>()), row[0].cast<double>(),
                   row[2].cast<int>(), to_bits(row[3].cast<Ranges>(), nodes)});
  }
  return all;
}

std::vector<slurm::Association> to_accounts(const py::list& given, std::size_t tres) {
  std::vector<slurm::Association> all;
  for (const auto& one : given) {
    const py::tuple row = one.cast<py::tuple>();
    const auto [parent, shares, user, limits] =
        py::tuple(row[py::slice(0, 4, 1)]).cast<std::tuple<int, double, bool, py::dict>>();
    const double usage = row.size() > 4 ? row[4].cast<double>() : 0;
    const double factor = row.size() > 5 ? row[5].cast<double>() : -1;
    Optional given_limits(limits, "an association");
    all.push_back({parent, shares, user, to_limits(given_limits, tres), usage, factor});
    given_limits.require_no_others();
  }
  return all;
}

}  // namespace

slurm::Scenario make_scenario(const py::dict& machine, const py::dict& partitions,
                              const std::map<std::string, double>& parameters, const py::dict& jobs,
                              const py::dict& more, const py::list& reservations,
                              const py::list& outside, const py::list& accounts) {
  slurm::Machine made = to_machine(machine, partitions);
  std::vector<slurm::Job> all = to_jobs(jobs);
  ask_more(all, more);
  const int nodes = made.nodes;
  const std::size_t tres = tres_of(made);
  return slurm::Scenario(std::move(made), std::move(all), slurm::to_settings(parameters),
                         to_reservations(reservations, nodes), to_outside(outside, nodes),
                         to_accounts(accounts, tres));
}

}  // namespace cosched::cluster::bindings
