#include <pybind11/functional.h>

#include "cosched/cluster/slurm/futures.hpp"
#include "cosched/cluster/slurm/held_up.hpp"
#include "cosched/cluster/slurm/retrace.hpp"
#include "cosched/cluster/slurm/simulator.hpp"
#include "cosched/core/errors.hpp"
#include "pybind.hpp"

namespace cosched::cluster::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

using Ranges = std::vector<std::pair<int, int>>;  // [first, last) of node numbers

/// Values by name; each must be there, and columns of a table are of one length.
class Named {
 public:
  Named(const py::dict& given, const char* what) : given_(given), what_(what) {}

  py::object operator[](const char* name) const {
    if (!given_.contains(name))
      throw InvalidInstance("slurm: " + std::string(what_) + " without '" + name + "'");
    return given_[name];
  }
  double number(const char* name) const { return (*this)[name].cast<double>(); }
  std::vector<double> reals(const char* name) {
    return of_one_length(to_reals((*this)[name].cast<RealArray>()), name);
  }
  std::vector<int> ints(const char* name) {
    return of_one_length(to_ints((*this)[name].cast<IntArray>(), name), name);
  }
  std::vector<Ranges> ranges(const char* name) {
    return of_one_length((*this)[name].cast<std::vector<Ranges>>(), name);
  }
  std::size_t rows() const { return rows_.value_or(0); }

 private:
  template <class Column>
  Column of_one_length(Column column, const char* name) {
    if (rows_.value_or(column.size()) != column.size())
      throw InvalidInstance("slurm: " + std::string(what_) + ": '" + name + "' has " +
                            std::to_string(column.size()) + " rows: expected " +
                            std::to_string(*rows_));
    rows_ = column.size();
    return column;
  }

  const py::dict& given_;
  const char* what_;
  std::optional<std::size_t> rows_;
};

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
    const auto set = [&](const char* name, auto& member) {
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
    if (parent >= static_cast<int>(all.size()))
      throw InvalidInstance("slurm: an association before its account");
    const double usage = row.size() > 4 ? row[4].cast<double>() : 0;
    const double factor = row.size() > 5 ? row[5].cast<double>() : -1;
    all.push_back({parent, shares, user, to_limits(limits, tres), usage, factor});
  }
  return all;
}

// What the simulation takes for granted of numbers that refer to others.
void require_known(const slurm::Job& job, const slurm::Machine& machine) {
  const auto within = [](int number, std::size_t count) {
    return number >= 0 && static_cast<std::size_t>(number) < count;
  };
  if (job.qos >= 0 && !within(job.qos, machine.qos.size()))
    throw InvalidInstance("slurm: a job of a QOS that is not there");
  if (!job.running) return;
  int last = -1;
  for (const slurm::Share& share : job.running->holds.nodes) {
    if (share.node <= last || share.node >= machine.nodes)
      throw InvalidInstance("slurm: a running job: expected increasing nodes of the machine");
    last = share.node;
  }
  for (const slurm::GpuShare& share : job.running->holds.gpus)
    if (!within(share.node, static_cast<std::size_t>(machine.nodes)) ||
        !within(share.type, machine.node_gpus.size()))
      throw InvalidInstance("slurm: a running job: GPUs that the machine does not have");
}

slurm::Scenario make_scenario(const py::dict& machine, const py::dict& partitions,
                              const std::map<std::string, double>& parameters, const py::dict& jobs,
                              const py::dict& more, const py::list& reservations,
                              const py::list& outside, const py::list& accounts) {
  slurm::Machine made = to_machine(machine, partitions);
  std::vector<slurm::Job> all = to_jobs(jobs);
  ask_more(all, more);
  for (const slurm::Job& job : all) require_known(job, made);
  const int nodes = made.nodes;
  const std::size_t tres = tres_of(made);
  return slurm::Scenario(std::move(made), std::move(all), slurm::to_settings(parameters),
                         to_reservations(reservations, nodes), to_outside(outside, nodes),
                         to_accounts(accounts, tres));
}

slurm::Clocks to_clocks(const py::dict& given) {
  const Named named(given, "clocks");
  slurm::Clocks clocks;
  clocks.controller_start = named.number("controller_start");
  clocks.epoch = static_cast<slurm::Second>(named.number("epoch"));
  clocks.launch = named.number("launch");
  clocks.epilog = named.number("epilog");
  clocks.noise = named.number("noise");
  clocks.noise_seed = static_cast<std::uint64_t>(named.number("noise_seed"));
  clocks.tick_period = named.number("tick_period");
  clocks.tick_offset = named.number("tick_offset");
  clocks.decay_after = named.number("decay_after");
  clocks.sleep_extra = named.number("sleep_extra");
  clocks.nap_extra = named.number("nap_extra");
  clocks.cycle_cost = named.number("cycle_cost");
  clocks.test_cost = named.number("test_cost");
  clocks.start_cost = named.number("start_cost");
  clocks.cycles = named["cycles"].cast<std::vector<double>>();
  clocks.checks = named["checks"].cast<std::vector<double>>();
  clocks.passes = named["passes"].cast<std::vector<std::pair<double, bool>>>();
  clocks.lengths = named["lengths"].cast<std::vector<double>>();
  if (given.contains("watched")) clocks.watched = given["watched"].cast<std::vector<int>>();
  return clocks;
}

std::vector<slurm::Life> to_lives(const py::list& given) {
  std::vector<slurm::Life> lives;
  for (const auto& one : given) {
    const auto [start, end, nodes, gpus] =
        one.cast<std::tuple<double, double, std::vector<std::tuple<int, int, std::int64_t>>,
                            std::vector<std::tuple<int, int, int>>>>();
    if (end <= start) throw InvalidInstance("slurm: a life that ends before it begins");
    slurm::Life& life = lives.emplace_back(slurm::Life{start, end, {}});
    for (const auto& [node, cores, memory] : nodes)
      life.holds.nodes.push_back({node, cores, memory});
    for (const auto& [node, type, count] : gpus) life.holds.gpus.push_back({node, type, count});
  }
  return lives;
}

// (time, factors by association, priorities by job) of each.
py::list retrace_slurm(const slurm::Scenario& scenario, const py::dict& clocks,
                       const py::list& lives, const std::vector<double>& times) {
  const std::vector<slurm::Life> all = to_lives(lives);
  if (all.size() != scenario.jobs().size()) throw InvalidInstance("slurm: a life of each job");
  py::list samples;
  for (const slurm::Sample& one : slurm::retrace(scenario, to_clocks(clocks), all, times))
    samples.append(py::make_tuple(one.time, real_array(one.factor), real_array(one.priority)));
  return samples;
}

// By job that a limit keeps: (reason, limit, used, jobs that run and count in it).
py::dict held_up_slurm(const slurm::Scenario& scenario) {
  py::dict found;
  const auto all = slurm::held_up(scenario);
  for (std::size_t j = 0; j < all.size(); ++j)
    if (all[j])
      found[py::int_(j)] =
          py::make_tuple(all[j]->reason, all[j]->limit, all[j]->used, all[j]->jobs);
  return found;
}

py::list notes_of(const slurm::Outcome& outcome) {
  py::list notes;
  for (const slurm::Note& note : outcome.notes)
    notes.append(py::make_tuple(note.time, note.job, static_cast<int>(note.action), note.start,
                                note.end, note.nodes, note.part, note.limit));
  return notes;
}

// Nodes of all jobs one after another, and where each job's begin.
py::tuple nodes_of(const slurm::Outcome& outcome) {
  std::vector<int> node;
  std::vector<std::int64_t> begin{0};
  for (const auto& nodes : outcome.nodes) {
    node.insert(node.end(), nodes.begin(), nodes.end());
    begin.push_back(static_cast<std::int64_t>(node.size()));
  }
  return py::make_tuple(frozen(std::move(begin)), int_array(node));
}

std::vector<int> all_of(const std::vector<std::vector<int>>& parts) {
  std::vector<int> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// (job, from, until) of each.
py::tuple pauses_of(const slurm::Outcome& outcome) {
  std::vector<int> job;
  std::vector<double> from, until;
  for (const slurm::Pause& pause : outcome.pauses) {
    job.push_back(pause.job);
    from.push_back(pause.from);
    until.push_back(pause.until);
  }
  return py::make_tuple(int_array(job), real_array(from), real_array(until));
}

py::dict run_slurm(const slurm::Scenario& scenario, const py::dict& given, bool told, bool plans) {
  using namespace py::literals;
  const slurm::Clocks clocks = to_clocks(given);
  const slurm::Outcome outcome = released([&] {
    return slurm::simulate(scenario, clocks, {told, plans});
  });
  return py::dict("start"_a = real_array(outcome.start), "end"_a = real_array(outcome.end),
                  "start_exact"_a = real_array(outcome.start_exact),
                  "end_exact"_a = real_array(outcome.end_exact), "nodes"_a = nodes_of(outcome),
                  "cores"_a = int_array(all_of(outcome.cores)), "by"_a = int_array(outcome.by),
                  "restarts"_a = int_array(outcome.restarts), "part"_a = int_array(outcome.part),
                  "killed"_a = int_array(outcome.killed),
                  "units"_a = int_array(all_of(outcome.units)), "pauses"_a = pauses_of(outcome),
                  "cycles"_a = real_array(outcome.cycles), "notes"_a = notes_of(outcome));
}

// (like which job, submitted when, seconds from start to end)
using ComingArrays = std::tuple<IntArray, RealArray, RealArray>;

slurm::Future to_future(const py::dict& clocks, std::vector<double> lengths,
                        const ComingArrays& coming, std::size_t jobs) {
  slurm::Future future{to_clocks(clocks), {}};
  if (!lengths.empty()) future.clocks.lengths = std::move(lengths);
  const std::vector<int> like = to_ints(std::get<0>(coming), "like");
  const std::vector<double> submit = to_reals(std::get<1>(coming)),
                            length = to_reals(std::get<2>(coming));
  if (submit.size() != like.size() || length.size() != like.size())
    throw InvalidInstance("slurm: what comes: expected columns of one length");
  for (std::size_t k = 0; k < like.size(); ++k) {
    if (like[k] < 0 || static_cast<std::size_t>(like[k]) >= jobs)
      throw InvalidInstance("slurm: what comes is like a job that is not there");
    future.coming.push_back({like[k], submit[k], length[k]});
  }
  return future;
}

// (starts, when killed, how long suspended): a row a future, a column a job that is there.
py::tuple run_futures(const slurm::Scenario& scenario, int there,
                      const std::vector<py::dict>& clocks, const RealArray& lengths,
                      const std::vector<ComingArrays>& coming, int threads,
                      const std::function<void(int)>& done) {
  const std::size_t jobs = scenario.jobs().size();
  if (there < 0 || static_cast<std::size_t>(there) > jobs || threads < 1)
    throw InvalidInstance("slurm: expected some threads, and jobs that are there");
  const Table known = to_table(lengths);
  const bool given = known.rows() > 0;
  if (given && (known.cols() != there || static_cast<std::size_t>(known.rows()) != clocks.size()))
    throw InvalidInstance("slurm: lengths: expected a row a future, a column a job that is there");
  std::vector<slurm::Future> futures;
  for (std::size_t k = 0; k < clocks.size(); ++k) {
    std::vector<double> own;
    if (given) {
      const auto row = known.row(static_cast<std::ptrdiff_t>(k));
      own.assign(row.begin(), row.end());
    }
    futures.push_back(
        to_future(clocks[k], std::move(own), coming.empty() ? ComingArrays() : coming.at(k), jobs));
  }
  slurm::Runs runs =
      released([&] { return slurm::simulate_all(scenario, there, futures, threads, done); });
  const std::vector<py::ssize_t> shape{runs.start.rows(), runs.start.cols()};
  return py::make_tuple(frozen(std::move(runs.start), shape), frozen(std::move(runs.killed), shape),
                        frozen(std::move(runs.paused), shape));
}

}  // namespace

void bind_cluster_slurm(py::module_& module) {
  py::class_<slurm::Scenario>(module, "Slurm")
      .def(py::init(&make_scenario), py::kw_only(), py::arg("machine"), py::arg("partitions"),
           py::arg("parameters"), py::arg("jobs"), py::arg("more"), py::arg("reservations"),
           py::arg("outside"), py::arg("accounts"))
      .def("held_up", &held_up_slurm)
      .def("retrace", &retrace_slurm, py::kw_only(), py::arg("clocks"), py::arg("lives"),
           py::arg("times"))
      .def("run_all", &run_futures, py::kw_only(), py::arg("there"), py::arg("clocks"),
           py::arg("lengths"), py::arg("coming"), py::arg("threads"), py::arg("done"))
      .def("run", &run_slurm, py::kw_only(), py::arg("clocks"), py::arg("told"), py::arg("plans"));
  module.attr("SLURM_PARAMETERS") = slurm::usual_parameters();
}

}  // namespace cosched::cluster::bindings
