#include <pybind11/functional.h>

#include "bind_slurm_trace.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/slurm/simulate/replications.hpp"
#include "cosched/slurm/simulate/retrace.hpp"
#include "cosched/slurm/state/limit_blocks.hpp"
#include "slurm_scenario.hpp"

namespace cosched::cluster::bindings {

namespace {

// Seconds: the clocks tick from the controller's start on, and every tick takes time here.
constexpr double kYear = 366 * 86400.0, kAges = 1e11;

double within(double value, const char* name, double low) {
  if (!(value >= low && value <= kAges))
    throw InvalidInstance("clocks: " + std::string(name) + " = " + std::to_string(value) +
                          ": expected seconds in " + std::to_string(std::int64_t(low)) + "..1e11");
  return value;
}

slurm::Clocks to_clocks(const py::dict& given) {
  const Named named(given, "clocks");
  const auto number = [&](const char* name) { return within(named.number(name), name, -kYear); };
  slurm::Clocks clocks;
  clocks.controller_start = number("controller_start");
  clocks.epoch = static_cast<slurm::Second>(within(named.number("epoch"), "epoch", -kAges));
  clocks.launch_delay = number("launch");
  clocks.epilog_delay = number("epilog");
  clocks.relative_noise = number("noise");
  clocks.noise_seed =
      static_cast<std::uint64_t>(within(named.number("noise_seed"), "noise_seed", 0));
  clocks.tick_period = within(named.number("tick_period"), "tick_period", 1e-3);
  clocks.tick_offset = number("tick_offset");
  clocks.decay_after = number("decay_after");
  clocks.sleep_extra = number("sleep_extra");
  clocks.nap_extra = number("nap_extra");
  clocks.cycle_cost = number("cycle_cost");
  clocks.test_cost = number("test_cost");
  clocks.start_cost = number("start_cost");
  clocks.cycle_times = named["cycles"].cast<std::vector<double>>();
  clocks.limit_check_times = named["checks"].cast<std::vector<double>>();
  clocks.main_passes = named["passes"].cast<std::vector<std::pair<double, bool>>>();
  clocks.run_lengths = named["lengths"].cast<std::vector<double>>();
  if (given.contains("epilogs"))
    clocks.epilog_delays = given["epilogs"].cast<std::vector<double>>();
  if (given.contains("delays")) clocks.start_delays = given["delays"].cast<std::vector<double>>();
  if (given.contains("slices"))
    for (const auto& cycle : given["slices"]) {
      clocks.slices.emplace_back();
      for (const auto& slice : cycle) {
        const auto [over, looked, resumes, amid] =
            slice.cast<std::tuple<double, int, double, bool>>();
        clocks.slices.back().push_back({over, looked, resumes, amid});
      }
    }
  if (given.contains("distant_time"))
    clocks.periods.distant_time = within(named.number("distant_time"), "distant_time", -kAges);
  if (given.contains("watched")) clocks.watched_jobs = given["watched"].cast<std::vector<int>>();
  return clocks;
}

std::vector<slurm::RecordedRun> to_lives(const py::list& given) {
  std::vector<slurm::RecordedRun> lives;
  for (const auto& one : given) {
    const auto [start, end, nodes, gpus] =
        one.cast<std::tuple<double, double, std::vector<std::tuple<int, int, std::int64_t>>,
                            std::vector<std::tuple<int, int, int>>>>();
    if (end <= start) throw InvalidInstance("slurm: a life that ends before it begins");
    slurm::RecordedRun& life = lives.emplace_back(slurm::RecordedRun{start, end, {}});
    for (const auto& [node, cores, memory] : nodes)
      life.shares.nodes.push_back({node, cores, memory});
    for (const auto& [node, type, count] : gpus) life.shares.gpus.push_back({node, type, count});
  }
  return lives;
}

// (time, factors by association, priorities by job) of each.
py::list retrace_slurm(const slurm::Scenario& scenario, const py::dict& clocks,
                       const py::list& lives, const std::vector<double>& times) {
  const std::vector<slurm::RecordedRun> all = to_lives(lives);
  if (all.size() != scenario.jobs().size()) throw InvalidInstance("slurm: a life of each job");
  py::list samples;
  for (const slurm::Sample& one : slurm::retrace(scenario, to_clocks(clocks), all, times))
    samples.append(py::make_tuple(one.time, array_of(one.factors), array_of(one.priorities)));
  return samples;
}

// By job that a limit keeps: (reason, limit, used, jobs that run and count in it).
py::dict held_up_slurm(const slurm::Scenario& scenario) {
  py::dict found;
  const auto all = slurm::limit_blocks(scenario);
  for (std::size_t j = 0; j < all.size(); ++j)
    if (all[j])
      found[py::int_(j)] =
          py::make_tuple(all[j]->reason, all[j]->limit, all[j]->used, all[j]->blocking_jobs);
  return found;
}

py::list notes_of(const slurm::Outcome& outcome) {
  py::list notes;
  for (const slurm::DecisionNote& note : outcome.notes)
    notes.append(py::make_tuple(note.time, note.job, static_cast<int>(note.action), note.start,
                                note.end, note.nodes, note.partition, note.limit));
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
  return py::make_tuple(frozen(std::move(begin)), array_of(node));
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
    from.push_back(pause.begin);
    until.push_back(pause.end);
  }
  return py::make_tuple(array_of(job), array_of(from), array_of(until));
}

py::dict limits_of(const std::vector<std::pair<int, std::string>>& barred) {
  py::dict limits;
  for (const auto& [job, limit] : barred) limits[py::int_(job)] = limit;
  return limits;
}

py::dict dict_of(const slurm::Outcome& outcome) {
  return py::dict("start"_a = array_of(outcome.start), "end"_a = array_of(outcome.end),
                  "start_exact"_a = array_of(outcome.start_exact),
                  "end_exact"_a = array_of(outcome.end_exact), "nodes"_a = nodes_of(outcome),
                  "cores"_a = array_of(all_of(outcome.cores)), "by"_a = array_of(outcome.scheduler),
                  "restarts"_a = array_of(outcome.restarts), "part"_a = array_of(outcome.partition),
                  "killed"_a = array_of(outcome.is_killed),
                  "units"_a = array_of(all_of(outcome.core_ids)), "pauses"_a = pauses_of(outcome),
                  "cycles"_a = array_of(outcome.cycle_times), "notes"_a = notes_of(outcome),
                  "barred"_a = limits_of(outcome.blocked_by_limit));
}

py::dict run_slurm(const slurm::Scenario& scenario, const py::dict& given, bool told, bool plans,
                   slurm::TraceRecorder* trace, bool remembers) {
  const slurm::Clocks clocks = to_clocks(given);
  return dict_of(released([&] {
    return slurm::simulate(scenario, clocks, {told, plans}, trace, {remembers});
  }));
}

// (like which job, submitted when, seconds from start to end)
using ComingArrays = std::tuple<IntArray, RealArray, RealArray>;

slurm::Replication to_future(const py::dict& clocks, std::vector<double> lengths,
                             const ComingArrays& coming, std::size_t jobs) {
  slurm::Replication future{to_clocks(clocks), {}};
  if (!lengths.empty()) future.clocks.run_lengths = std::move(lengths);
  const std::vector<int> like = copied<Ints>(std::get<0>(coming), "like");
  const std::vector<double> submit = copied<Reals>(std::get<1>(coming)),
                            length = copied<Reals>(std::get<2>(coming));
  if (submit.size() != like.size() || length.size() != like.size())
    throw InvalidInstance("slurm: what comes: expected columns of one length");
  for (std::size_t k = 0; k < like.size(); ++k) {
    if (like[k] < 0 || static_cast<std::size_t>(like[k]) >= jobs)
      throw InvalidInstance("slurm: what comes is like a job that is not there");
    future.arrivals.push_back({like[k], submit[k], length[k]});
  }
  return future;
}

// (starts, when killed, how long suspended): a row a future, a column a job that is there; the
// limit that kept a job, by job, of each future; and all of the first, where that is asked for.
py::tuple run_futures(const slurm::Scenario& scenario, int there,
                      const std::vector<py::dict>& clocks, const RealArray& lengths,
                      const std::vector<ComingArrays>& coming, int threads,
                      const std::function<void(int)>& done, bool whole) {
  const std::size_t jobs = scenario.jobs().size();
  if (there < 0 || static_cast<std::size_t>(there) > jobs || threads < 1)
    throw InvalidInstance("slurm: expected some threads, and jobs that are there");
  const Table known = copied<Table>(lengths);
  const bool given = known.rows() > 0;
  if (given && (known.cols() != there || static_cast<std::size_t>(known.rows()) != clocks.size()))
    throw InvalidInstance("slurm: lengths: expected a row a future, a column a job that is there");
  std::vector<slurm::Replication> futures;
  for (std::size_t k = 0; k < clocks.size(); ++k) {
    std::vector<double> own;
    if (given) {
      const auto row = known.row(static_cast<std::ptrdiff_t>(k));
      own.assign(row.begin(), row.end());
    }
    futures.push_back(
        to_future(clocks[k], std::move(own), coming.empty() ? ComingArrays() : coming.at(k), jobs));
  }
  slurm::ReplicationTable runs =
      released([&] { return slurm::simulate_all(scenario, there, futures, threads, done); });
  const std::vector<py::ssize_t> shape{runs.start_times.rows(), runs.start_times.cols()};
  py::list barred;
  for (const auto& one : runs.blocked_by_limit) barred.append(limits_of(one));
  return py::make_tuple(
      frozen(std::move(runs.start_times), shape), frozen(std::move(runs.kill_times), shape),
      frozen(std::move(runs.paused_seconds), shape), barred,
      whole && runs.first_outcome ? py::object(dict_of(*runs.first_outcome)) : py::none());
}

}  // namespace

void bind_slurm(py::module_& module) {
  bind_slurm_trace(module);
  py::class_<slurm::Scenario>(module, "Slurm")
      .def(py::init(&make_scenario), py::kw_only(), "machine"_a, "partitions"_a, "parameters"_a,
           "jobs"_a, "more"_a, "reservations"_a, "outside"_a, "accounts"_a)
      .def("held_up", &held_up_slurm)
      .def("retrace", &retrace_slurm, py::kw_only(), "clocks"_a, "lives"_a, "times"_a)
      .def("run_all", &run_futures, py::kw_only(), "there"_a, "clocks"_a, "lengths"_a, "coming"_a,
           "threads"_a, "done"_a, "whole"_a)
      .def("run", &run_slurm, py::kw_only(), "clocks"_a, "told"_a, "plans"_a, "trace"_a,
           "remembers"_a);
  module.attr("SLURM_PARAMETERS") = slurm::usual_parameters();
}

}  // namespace cosched::cluster::bindings
