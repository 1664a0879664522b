#include "cosched/cluster/slurm/simulator.hpp"
#include "pybind.hpp"

namespace cosched::cluster::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

using Ranges = std::vector<std::pair<int, int>>;  // [first, last) of node numbers

/// What does not change from draw to draw.
struct Slurm {
  slurm::SlurmMachine machine;
  slurm::SlurmParameters parameters;
  std::vector<slurm::SlurmJob> jobs;
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

slurm::Second to_seconds(double value) {
  return value < static_cast<double>(slurm::kNever) ? static_cast<slurm::Second>(value)
                                                    : slurm::kNever;
}

std::unique_ptr<Slurm> make_slurm(
    int nodes, int cpus, const std::vector<Ranges>& lines, const std::vector<Ranges>& parts,
    const std::vector<int>& tiers, const std::vector<double>& max_times,
    const std::vector<double>& factors, const std::map<std::string, double>& parameters,
    const RealArray& submit, const IntArray& wanted, const IntArray& wanted_cpus,
    const RealArray& limit, const RealArray& runtime, const IntArray& partition,
    const IntArray& user, const RealArray& nice, const IntArray& node_cores) {
  auto made = std::make_unique<Slurm>(Slurm{{}, slurm::SlurmParameters(parameters), {}});
  made->machine.nodes = nodes;
  made->machine.cpus = cpus;
  made->machine.node_cores = to_ints(node_cores, "node_cores");
  for (const Ranges& line : lines) made->machine.lines.push_back(to_bits(line, nodes));
  for (std::size_t k = 0; k < parts.size(); ++k)
    made->machine.parts.push_back(
        {to_bits(parts[k], nodes), tiers.at(k), to_seconds(max_times.at(k)), factors.at(k)});
  const auto submits = to_reals(submit), limits = to_reals(limit), runtimes = to_reals(runtime),
             nices = to_reals(nice);
  const auto sizes = to_ints(wanted, "tasks"), all_cpus = to_ints(wanted_cpus, "cpus"),
             in = to_ints(partition, "partition"), users = to_ints(user, "user");
  for (std::size_t j = 0; j < submits.size(); ++j) {
    made->jobs.push_back({submits[j], sizes.at(j), all_cpus.at(j), to_seconds(limits.at(j)),
                          runtimes.at(j), in.at(j), users.at(j), nices.at(j)});
    const slurm::SlurmJob& job = made->jobs.back();
    if (made->machine.parts.at(static_cast<std::size_t>(job.partition)).nodes.count() < job.nodes)
      throw InfeasibleError("job " + std::to_string(j) + " wants " + std::to_string(job.nodes) +
                            " nodes: its partition has fewer");
  }
  return made;
}

double number_of(const std::map<std::string, double>& clocks, const char* name) {
  const auto found = clocks.find(name);
  if (found == clocks.end()) throw InvalidInstance("slurm: clock '" + std::string(name) + "'?");
  return found->second;
}

slurm::SlurmClocks to_clocks(const std::map<std::string, double>& given, std::vector<double> cycles,
                             std::vector<double> checks) {
  slurm::SlurmClocks clocks;
  clocks.controller_start = number_of(given, "controller_start");
  clocks.epoch = static_cast<slurm::Second>(number_of(given, "epoch"));
  clocks.launch = number_of(given, "launch");
  clocks.epilog = number_of(given, "epilog");
  clocks.noise = number_of(given, "noise");
  clocks.noise_seed = static_cast<std::uint64_t>(number_of(given, "noise_seed"));
  clocks.tick_period = number_of(given, "tick_period");
  clocks.tick_offset = number_of(given, "tick_offset");
  clocks.sleep_extra = number_of(given, "sleep_extra");
  clocks.cycle_cost = number_of(given, "cycle_cost");
  clocks.test_cost = number_of(given, "test_cost");
  clocks.cycles = std::move(cycles);
  clocks.checks = std::move(checks);
  return clocks;
}

py::list notes_of(const slurm::SlurmOutcome& outcome) {
  py::list notes;
  for (const slurm::SlurmNote& note : outcome.notes)
    notes.append(py::make_tuple(note.time, note.job, static_cast<int>(note.action), note.start,
                                note.end, note.nodes));
  return notes;
}

// Nodes of all jobs one after another, and where each job's begin.
py::tuple nodes_of(const slurm::SlurmOutcome& outcome) {
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

py::dict run_slurm(const Slurm& slurm, const std::map<std::string, double>& given,
                   std::vector<double> cycles, std::vector<double> checks, bool told, bool plans) {
  using namespace py::literals;
  const slurm::SlurmClocks clocks = to_clocks(given, std::move(cycles), std::move(checks));
  const slurm::SlurmOutcome outcome = released([&] {
    return slurm::simulate_slurm(slurm.machine, slurm.parameters, slurm.jobs, clocks,
                                 {told, plans});
  });
  return py::dict("start"_a = real_array(outcome.start), "end"_a = real_array(outcome.end),
                  "start_exact"_a = real_array(outcome.start_exact),
                  "end_exact"_a = real_array(outcome.end_exact), "nodes"_a = nodes_of(outcome),
                  "cores"_a = int_array(all_of(outcome.cores)), "by"_a = int_array(outcome.by),
                  "killed"_a = int_array(outcome.killed), "cycles"_a = real_array(outcome.cycles),
                  "notes"_a = notes_of(outcome));
}

}  // namespace

void bind_cluster_slurm(py::module_& module) {
  py::class_<Slurm>(module, "Slurm")
      .def(py::init(&make_slurm), py::arg("nodes"), py::arg("cpus"), py::arg("lines"),
           py::arg("parts"), py::arg("tiers"), py::arg("max_times"), py::arg("factors"),
           py::arg("parameters"), py::arg("submit"), py::arg("wanted"), py::arg("wanted_cpus"),
           py::arg("limit"), py::arg("runtime"), py::arg("partition"), py::arg("user"),
           py::arg("nice"), py::arg("node_cores"))
      .def("run", &run_slurm, py::arg("clocks"), py::arg("cycles"), py::arg("checks"),
           py::arg("told"), py::arg("plans"));
  module.attr("SLURM_PARAMETERS") = slurm::SlurmParameters().values;
}

}  // namespace cosched::cluster::bindings
