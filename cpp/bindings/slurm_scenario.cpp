#include "slurm_scenario.hpp"

#include <set>
#include <string>

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
    parts.push_back({to_bits(ranges[k], nodes), tier[k], slurm::length_of(max_time[k]), factor[k],
                     min_nodes[k], max_nodes[k], qos[k], billing.at(k), mode[k],
                     slurm::length_of(grace[k])});
  return parts;
}

// {"limits": [(name, TRES or -1, value, used)], "group_accrue": 3, ...}
slurm::Limits to_limits(const py::dict& given, std::size_t tres) {
  slurm::Limits limits;
  const auto set = [&](const char* name, int& member) {
    if (given.contains(name)) member = given[name].cast<int>();
  };
  set("group_accrue", limits.group_accrue);
  set("account_accrue", limits.account_accrue);
  set("user_accrue", limits.user_accrue);
  set("accrue", limits.accrue);
  if (!given.contains("limits")) return limits;
  for (const auto& [name, which, value, used] :
       given["limits"].cast<std::vector<std::tuple<std::string, int, double, double>>>()) {
    if (which < -1 || which >= static_cast<int>(tres))
      throw InvalidInstance("slurm: limit " + name + " of a TRES that is not there");
    limits.all.push_back({slurm::kind_of(name), which, value, used});
  }
  return limits;
}

slurm::Qos to_qos(const py::dict& given, std::size_t tres) {
  slurm::Qos qos{to_limits(given, tres)};
  const auto set = [&](const char* name, auto& member) {
    if (given.contains(name)) member = given[name].cast<std::decay_t<decltype(member)>>();
  };
  set("over_partition", qos.over_partition);
  set("deny", qos.deny);
  set("safe_factor", qos.safe_factor);
  set("no_decay", qos.no_decay);
  set("no_reserve", qos.no_reserve);
  set("any_nodes", qos.any_nodes);
  set("usage_factor", qos.usage_factor);
  set("limit_factor", qos.limit_factor);
  set("preempts", qos.preempts);
  set("priority", qos.priority);
  set("preempt_mode", qos.preempt_mode);
  set("grace", qos.grace);
  set("exempt_time", qos.exempt_time);
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
  machine.node_cores = to_ints(named["node_cores"].cast<IntArray>(), "node_cores");
  for (const Ranges& line : named["lines"].cast<std::vector<Ranges>>())
    machine.lines.push_back(to_bits(line, machine.nodes));
  for (const Ranges& set : named["sets"].cast<std::vector<Ranges>>())
    machine.sets.push_back(to_bits(set, machine.nodes));
  machine.node_memory = named["node_memory"].cast<std::vector<std::int64_t>>();
  machine.node_gpus = named["node_gpus"].cast<std::vector<std::vector<int>>>();
  machine.node_weight = to_ints(named["node_weight"].cast<IntArray>(), "node_weight");
  for (const auto& qos : named["qos"].cast<std::vector<py::dict>>())
    machine.qos.push_back(to_qos(qos, tres_of(machine)));
  machine.priority_tres = named["priority_tres"].cast<std::vector<double>>();
  machine.down = to_bits(named["down"].cast<Ranges>(), machine.nodes);
  machine.licences = to_ints(named["licences"].cast<IntArray>(), "licences");
  machine.parts = to_partitions(partitions, machine.nodes);
  return machine;
}

// (start, [(node, cores, MB)], [(node, type, GPUs)])
slurm::Running to_running(const py::tuple& given) {
  slurm::Running running{given[0].cast<double>(), {}};
  for (const auto& [node, cores, memory] :
       given[1].cast<std::vector<std::tuple<int, int, std::int64_t>>>())
    running.holds.nodes.push_back({node, cores, memory});
  for (const auto& [node, type, count] : given[2].cast<std::vector<std::tuple<int, int, int>>>())
    running.holds.gpus.push_back({node, type, count});
  return running;
}

// What jobs of `more`, (job, values by name), ask beyond whole nodes.
void ask_more(std::vector<slurm::Job>& jobs, const py::dict& more) {
  for (const auto& [row, given] : more) {
    slurm::Job& job = jobs.at(row.cast<std::size_t>());
    const py::dict values = given.cast<py::dict>();
    std::set<std::string> known{"running", "waiting", "after"};
    const auto set = [&](const char* name, auto& member) {
      known.insert(name);
      if (values.contains(name)) member = values[name].cast<std::decay_t<decltype(member)>>();
    };
    slurm::Ask& ask = job.ask;
    set("nodes", job.nodes);
    set("max_nodes", ask.max_nodes);
    set("tasks", ask.tasks);
    set("task_cores", ask.task_cores);
    set("exclusive", ask.exclusive);
    set("memory", ask.memory);
    set("memory_by_core", ask.memory_by_core);
    set("memory_all", ask.memory_all);
    set("gpus", ask.gpus);
    set("gpus_by_node", ask.gpus_by_node);
    set("gpu_type", ask.gpu_type);
    set("partitions", job.partitions);
    set("set", job.set);
    set("alternatives", job.alternatives);
    set("association", job.association);
    set("qos", job.qos);
    set("user", job.user);
    set("qos_factor", job.qos_factor);
    set("nice", job.nice);
    set("requeue", job.requeue);
    set("fails", job.fails);
    slurm::Conditions& conditions = job.conditions;
    set("begin", conditions.begin);
    set("held", conditions.held);
    set("singleton", conditions.singleton);
    set("namesake", conditions.namesake);
    set("array", conditions.array);
    set("array_limit", conditions.array_limit);
    set("reservation", conditions.reservation);
    set("licences", conditions.licences);
    if (values.contains("running")) job.running = to_running(values["running"].cast<py::tuple>());
    if (values.contains("waiting")) {
      const auto [priority, accrues] = values["waiting"].cast<std::pair<double, double>>();
      job.waiting = {priority, accrues};
    }
    for (const auto& [key, value] : values)
      if (const auto name = key.cast<std::string>(); known.count(name) == 0)
        throw InvalidInstance("slurm: a job has '" + name + "', which nobody knows");
    if (!values.contains("after")) continue;
    for (const auto& [kind, of] :
         values["after"].cast<std::vector<std::pair<int, std::vector<int>>>>())
      conditions.after.push_back({static_cast<slurm::Dependency::Kind>(kind), of});
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
    jobs.push_back({submit[j], nodes[j], cpus[j], slurm::length_of(limit[j]), runtime[j],
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

std::vector<slurm::Outside> to_outside(const py::list& given, int nodes) {
  std::vector<slurm::Outside> all;
  for (const auto& one : given) {
    const py::tuple row = one.cast<py::tuple>();
    all.push_back({static_cast<slurm::Outside::Kind>(row[1].cast<int>()), row[0].cast<double>(),
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
    all.push_back({parent, shares, user, to_limits(limits, tres), usage, factor});
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
