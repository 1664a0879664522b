#include "cosched/cluster/batch/batch_trace.hpp"
#include "cosched/cluster/batch/conservative.hpp"
#include "cosched/cluster/batch/fcfs_easy.hpp"
#include "cosched/cluster/bound/stretch_bound.hpp"
#include "cosched/cluster/check/validate_trace.hpp"
#include "cosched/cluster/dfrs/average_yields.hpp"
#include "cosched/cluster/dfrs/by_decreasing.hpp"
#include "cosched/cluster/dfrs/dfrs.hpp"
#include "cosched/cluster/dfrs/mcb8.hpp"
#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "cosched/cluster/dfrs/policy_name.hpp"
#include "cosched/cluster/dfrs/yields.hpp"
#include "cosched/core/errors.hpp"
#include "pybind.hpp"

namespace cosched::cluster::bindings {

using namespace cosched::bindings;  // NOLINT

// bind_cluster_policy.cpp
cluster::Outcome run_python_policy(const cluster::Instance& instance, const py::object& policy,
                                   const cluster::dfrs::SimulationOptions& options,
                                   cluster::Trace* trace, cluster::DecisionLog* log);

namespace {

py::dict outcome_dict(const Outcome& outcome) {
  using namespace py::literals;
  return py::dict("start"_a = real_array(outcome.start), "end"_a = real_array(outcome.end),
                  "preemptions"_a = int_array(outcome.preemptions),
                  "migrations"_a = int_array(outcome.migrations),
                  "demand_area"_a = outcome.demand_area,
                  "preempted_memory"_a = outcome.preempted_memory,
                  "migrated_memory"_a = outcome.migrated_memory, "events"_a = outcome.events);
}

// (job, unit_begin, unit, start, end, yield, progress, cause): a row a span.
py::tuple trace_tuple(const Trace& trace) {
  std::vector<std::int64_t> begin{0};
  std::vector<int> node, cause;
  for (std::size_t r = 0; r < trace.rows(); ++r) {
    const auto first = trace.node_begin[trace.mapping[r]];
    const auto last = trace.node_begin[trace.mapping[r] + 1];
    node.insert(node.end(), trace.node.begin() + first, trace.node.begin() + last);
    begin.push_back(static_cast<std::int64_t>(node.size()));
    cause.push_back(static_cast<int>(trace.cause[r]));
  }
  py::array_t<std::int64_t> begins(static_cast<py::ssize_t>(begin.size()));
  std::copy(begin.begin(), begin.end(), begins.mutable_data());
  return py::make_tuple(int_array(trace.job), begins, int_array(node), real_array(trace.start),
                        real_array(trace.end), real_array(trace.yield), real_array(trace.progress),
                        int_array(cause));
}

Trace to_trace(const IntArray& job, const IntArray& unit_begin, const IntArray& unit,
               const RealArray& start, const RealArray& end, const RealArray& yield,
               const RealArray& progress, const IntArray& cause) {
  const Schedule columns = to_schedule(job, job, unit_begin, unit, start, end);
  const std::vector<double> yields = to_reals(yield), speeds = to_reals(progress);
  const std::vector<int> causes = to_ints(cause, "cause");
  const std::size_t rows = columns.rows();
  if (columns.unit_begin.size() != rows + 1 || columns.start.size() != rows ||
      columns.end.size() != rows || yields.size() != rows || speeds.size() != rows ||
      causes.size() != rows)
    throw InvalidSchedule("the schedule's columns have different lengths");
  Trace trace;
  for (std::size_t r = 0; r < rows; ++r) {
    if (causes[r] < 0 || causes[r] > static_cast<int>(RowCause::go_on))
      throw InvalidSchedule("placement " + std::to_string(r) + ": unknown cause");
    const int mapping = trace.add_mapping({columns.unit.begin() + columns.unit_begin[r],
                                           columns.unit.begin() + columns.unit_begin[r + 1]});
    trace.add(columns.task[r], mapping, columns.start[r], columns.end[r], yields[r], speeds[r],
              static_cast<RowCause>(causes[r]));
  }
  return trace;
}

// (time, job, action, reason) with the reason as a sentence.
py::tuple log_tuple(const DecisionLog& log, const Jobs& jobs) {
  std::vector<double> time;
  std::vector<int> job;
  py::list action, reason;
  for (const Decision& decision : log) {
    time.push_back(decision.time);
    job.push_back(decision.job);
    action.append(to_string(decision.action));
    reason.append(explain(decision, jobs));
  }
  return py::make_tuple(real_array(time), int_array(job), action, reason);
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const RealArray& submit, const IntArray& tasks, const RealArray& cpu,
                       const RealArray& memory, const RealArray& runtime, const RealArray& estimate,
                       int nodes, std::vector<std::string> id, const IntArray& line,
                       std::string source) {
             Jobs jobs{to_reals(submit), to_ints(tasks, "tasks"), to_reals(cpu),
                       to_reals(memory), to_reals(runtime),       to_reals(estimate)};
             jobs.id = std::move(id);
             jobs.line = to_ints(line, "line");
             jobs.source = std::move(source);
             return Instance(std::move(jobs), nodes);
           }),
           py::arg("submit"), py::arg("tasks"), py::arg("cpu"), py::arg("memory"),
           py::arg("runtime"), py::arg("estimate"), py::arg("nodes"), py::arg("id"),
           py::arg("line"), py::arg("source"))
      .def_property_readonly("nodes", &Instance::nodes);
}

// Each simulation returns (outcome, trace or None, log or None).
template <class Run>
py::tuple simulated(const Instance& instance, bool with_trace, bool with_log, Run run) {
  Trace trace;
  DecisionLog log;
  const Outcome outcome = run(with_trace ? &trace : nullptr, with_log ? &log : nullptr);
  return py::make_tuple(outcome_dict(outcome),
                        with_trace ? py::object(trace_tuple(trace)) : py::none(),
                        with_log ? py::object(log_tuple(log, instance.jobs())) : py::none());
}

void bind_batch(py::module_& module) {
  module.def(
      "fcfs",
      [](const Instance& instance, bool with_trace, bool with_log) {
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return released([&] {
            Outcome outcome = batch::fcfs(instance, log);
            if (trace) *trace = batch::batch_trace(instance, outcome);
            return outcome;
          });
        });
      },
      py::arg("instance"), py::arg("trace"), py::arg("log"));
  module.def(
      "easy",
      [](const Instance& instance, bool requested, bool with_trace, bool with_log) {
        const batch::Estimates estimates =
            requested ? batch::Estimates::requested : batch::Estimates::perfect;
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return released([&] {
            Outcome outcome = batch::easy(instance, estimates, log);
            if (trace) *trace = batch::batch_trace(instance, outcome);
            return outcome;
          });
        });
      },
      py::arg("instance"), py::arg("requested"), py::arg("trace"), py::arg("log"));
}

std::vector<std::uint64_t> to_bits(const py::array_t<std::uint64_t>& bits) {
  return {bits.data(), bits.data() + bits.size()};
}

batch::Layout to_layout(const IntArray& nodes, const py::array_t<std::uint64_t>& allowed,
                        std::vector<std::vector<int>> held) {
  return {to_ints(nodes, "cells"), to_bits(allowed), std::move(held)};
}

// Which of the overloads.
template <class Placed, class Place>
auto rule_on(const std::string& rule) {
  using Rule = Placed (*)(const Instance&, const Place&, const batch::Order&, batch::Estimates,
                          DecisionLog*);
  if (rule == "FCFS") return static_cast<Rule>(&batch::fcfs);
  return rule == "EASY" ? static_cast<Rule>(&batch::easy) : static_cast<Rule>(&batch::conservative);
}

void bind_site(py::module_& module) {
  using batch::Site;
  py::class_<Site>(module, "Site")
      .def(py::init([](const IntArray& cores, const RealArray& memory, const IntArray& gpus,
                       const IntArray& cell, const IntArray& gpu_type, const IntArray& first_core,
                       const IntArray& tasks, const IntArray& parts, const RealArray& job_memory,
                       const IntArray& job_gpus, const py::array_t<std::uint64_t>& cells,
                       const py::array_t<std::uint64_t>& gpu_types,
                       std::vector<std::vector<int>> held) {
             const std::vector<int> cores_of = to_ints(cores, "cores"),
                                    gpus_of = to_ints(gpus, "gpus");
             const std::vector<int> cell_of = to_ints(cell, "cell"),
                                    type_of = to_ints(gpu_type, "gpu_type"),
                                    first = to_ints(first_core, "first_core");
             const std::vector<double> kb = to_reals(memory);
             std::vector<batch::Node> nodes;
             for (std::size_t k = 0; k < cores_of.size(); ++k)
               nodes.push_back({{static_cast<std::int64_t>(kb.at(k)), cores_of[k], gpus_of.at(k)},
                                cell_of.at(k),
                                type_of.at(k),
                                first.at(k)});
             Site::Asked asked{
                 to_ints(tasks, "tasks"), to_ints(parts, "parts"), to_ints(job_gpus, "gpus"),
                 to_reals(job_memory),    to_bits(cells),          to_bits(gpu_types),
                 std::move(held)};
             return released([&] { return Site(std::move(nodes), asked); });
           }),
           py::arg("cores"), py::arg("memory"), py::arg("gpus"), py::arg("cell"),
           py::arg("gpu_type"), py::arg("first_core"), py::arg("tasks"), py::arg("parts"),
           py::arg("job_memory"), py::arg("job_gpus"), py::arg("cells"), py::arg("gpu_types"),
           py::arg("held"))
      .def_property_readonly("unfit", [](const Site& site) { return int_array(site.unfit()); });
  module.def(
      "backfill_on",
      [](const Instance& instance, const Site& site, const std::string& rule, bool requested,
         bool wfp3, const RealArray& key, bool with_trace, bool with_log) {
        const batch::Order order{wfp3, to_reals(key)};
        const auto estimates = requested ? batch::Estimates::requested : batch::Estimates::perfect;
        const auto run = rule_on<batch::SiteOutcome, Site>(rule);
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return released([&] {
            batch::SiteOutcome placed = run(instance, site, order, estimates, log);
            if (trace) *trace = batch::site_trace(instance, site, placed);
            return std::move(placed.outcome);
          });
        });
      },
      py::arg("instance"), py::arg("site"), py::arg("rule"), py::arg("requested"), py::arg("wfp3"),
      py::arg("key"), py::arg("trace"), py::arg("log"));
}

void bind_backfill(py::module_& module) {
  module.def(
      "backfill",
      [](const Instance& instance, const std::string& rule, bool requested, bool wfp3,
         const RealArray& key, const IntArray& cells, const py::array_t<std::uint64_t>& allowed,
         std::vector<std::vector<int>> held, bool with_trace, bool with_log) {
        const batch::Order order{wfp3, to_reals(key)};
        const auto estimates = requested ? batch::Estimates::requested : batch::Estimates::perfect;
        const auto run = rule_on<batch::PlacedOutcome, batch::Layout>(rule);
        const batch::Layout given = to_layout(cells, allowed, std::move(held));
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return released([&] {
            batch::Layout layout = given.nodes.empty() ? batch::one_cell(instance) : given;
            layout.held = given.held;
            batch::PlacedOutcome placed = run(instance, layout, order, estimates, log);
            if (trace) *trace = batch::placed_trace(instance, layout, placed);
            return std::move(placed.outcome);
          });
        });
      },
      py::arg("instance"), py::arg("rule"), py::arg("requested"), py::arg("wfp3"), py::arg("key"),
      py::arg("cells"), py::arg("allowed"), py::arg("held"), py::arg("trace"), py::arg("log"));
}

void bind_dfrs(py::module_& module) {
  module.def(
      "spell",
      [](const std::string& text) -> std::optional<std::string> {
        const auto name = dfrs::parse_policy_name(text);
        if (!name) return std::nullopt;
        return dfrs::spell(*name);
      },
      py::arg("text"));
  module.def("paper_policies", [] {
    std::vector<std::string> names;
    for (const dfrs::PolicyName& name : dfrs::paper_policies()) names.push_back(dfrs::spell(name));
    return names;
  });
  module.def(
      "dfrs",
      [](const Instance& instance, const std::string& text, double period, double penalty,
         bool with_trace, bool with_log) {
        const auto name = dfrs::parse_policy_name(text);
        if (!name) throw InvalidInstance("policy '" + text + "': not a policy name");
        dfrs::SimulationOptions options;
        options.period = period;
        options.penalty = penalty;
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return released([&] { return dfrs::run_dfrs(instance, *name, options, trace, log); });
        });
      },
      py::arg("instance"), py::arg("name"), py::arg("period"), py::arg("penalty"), py::arg("trace"),
      py::arg("log"));
  module.def(
      "python_policy",
      [](const Instance& instance, const py::object& policy, double period, double penalty,
         bool with_trace, bool with_log) {
        dfrs::SimulationOptions options;
        options.period = period;
        options.penalty = penalty;
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return run_python_policy(instance, policy, options, trace, log);
        });
      },
      py::arg("instance"), py::arg("policy"), py::arg("period"), py::arg("penalty"),
      py::arg("trace"), py::arg("log"));
}

void bind_measures(py::module_& module) {
  module.def(
      "stretches",
      [](const Instance& instance, const RealArray& end, double threshold) {
        return real_array(stretches(instance, to_reals(end), threshold));
      },
      py::arg("instance"), py::arg("end"), py::arg("threshold"));
  module.def(
      "underutilisation",
      [](const Instance& instance, double demand_area) {
        Outcome outcome;
        outcome.demand_area = demand_area;
        return underutilisation(instance, outcome);
      },
      py::arg("instance"), py::arg("demand_area"));
  module.def(
      "max_stretch_bound",
      [](const Instance& instance, double threshold,
         const std::vector<std::pair<RealArray, double>>& resources) {
        std::vector<bound::Resource> known;
        for (const auto& [held, capacity] : resources) known.push_back({to_reals(held), capacity});
        const bound::StretchBound bound =
            released([&] { return bound::max_stretch_bound(instance, known, threshold); });
        return py::make_tuple(bound.value, bound.tests, bound.exact);
      },
      py::arg("instance"), py::arg("threshold"), py::arg("resources"));
  module.def(
      "validate",
      [](const Instance& instance, const IntArray& job, const IntArray& unit_begin,
         const IntArray& unit, const RealArray& start, const RealArray& end, const RealArray& yield,
         const RealArray& progress, const IntArray& cause, const RealArray& first,
         const RealArray& last, const IntArray& preemptions, const IntArray& migrations,
         double penalty, bool exclusive) {
        const Trace trace = to_trace(job, unit_begin, unit, start, end, yield, progress, cause);
        Outcome outcome;
        outcome.start = to_reals(first);
        outcome.end = to_reals(last);
        outcome.preemptions = to_ints(preemptions, "preemptions");
        outcome.migrations = to_ints(migrations, "migrations");
        const auto jobs = static_cast<std::size_t>(instance.size());
        if (outcome.start.size() != jobs || outcome.end.size() != jobs ||
            outcome.preemptions.size() != jobs || outcome.migrations.size() != jobs)
          throw InvalidSchedule("the outcome has another number of jobs than the instance");
        released([&] {
          check::validate_trace(instance, trace, outcome, check::TraceRules{penalty, exclusive});
        });
      },
      py::arg("instance"), py::arg("job"), py::arg("unit_begin"), py::arg("unit"), py::arg("start"),
      py::arg("end"), py::arg("yield_"), py::arg("progress"), py::arg("cause"), py::arg("first"),
      py::arg("last"), py::arg("preemptions"), py::arg("migrations"), py::arg("penalty"),
      py::arg("exclusive"));
}

std::vector<std::vector<int>> vectors(const std::vector<dfrs::NodeList>& lists) {
  std::vector<std::vector<int>> made;
  for (const dfrs::NodeList& list : lists) made.emplace_back(list.begin(), list.end());
  return made;
}

void bind_mapping(py::module_& module) {
  module.def(
      "yields",
      [](const std::vector<std::vector<int>>& where, const RealArray& cpu, int nodes,
         const std::string& opt) {
        dfrs::Mapping mapping;
        mapping.nodes = nodes;
        mapping.cpu = to_reals(cpu);
        const std::vector<dfrs::NodeList> lists(where.begin(), where.end());
        for (const dfrs::NodeList& list : lists) mapping.where.push_back(&list);
        return real_array(released([&] {
          if (opt == "min") return dfrs::max_min_yields(mapping);
          auto base = dfrs::base_yields(mapping);
          if (opt == "base") return base;
          return dfrs::best_average_yields(mapping, base, std::vector<double>(base.size(), 1.0));
        }));
      },
      py::arg("where"), py::arg("cpu"), py::arg("nodes"), py::arg("opt"));
  module.def(
      "mcb8",
      [](const IntArray& tasks, const RealArray& cpu, const RealArray& memory, int nodes,
         double yield) -> std::optional<std::vector<std::vector<int>>> {
        auto requirement = to_reals(cpu);
        for (double& need : requirement) need *= yield;
        dfrs::Mcb8 mcb8(to_ints(tasks, "tasks"), to_reals(memory), nodes);
        const bool packed =
            released([&] { return mcb8.pack(requirement, dfrs::by_decreasing(requirement)); });
        if (!packed) return std::nullopt;
        mcb8.keep();
        return vectors(mcb8.placement());
      },
      py::arg("tasks"), py::arg("cpu"), py::arg("memory"), py::arg("nodes"), py::arg("yield_"));
  using Found = std::pair<double, std::vector<std::vector<int>>>;
  module.def(
      "mcb8_search",
      [](const IntArray& tasks, const RealArray& cpu, const RealArray& memory,
         int nodes) -> std::optional<Found> {
        dfrs::Mcb8 mcb8(to_ints(tasks, "tasks"), to_reals(memory), nodes);
        const dfrs::Target target = dfrs::yield_target(to_reals(cpu));
        const auto yield = released([&]() -> std::optional<double> {
          if (mcb8.surely_too_much()) return std::nullopt;
          return dfrs::best_target(mcb8, target, dfrs::kYieldAccuracy);
        });
        if (!yield) return std::nullopt;
        return Found{*yield, vectors(mcb8.placement())};
      },
      py::arg("tasks"), py::arg("cpu"), py::arg("memory"), py::arg("nodes"));
}

}  // namespace

void bind_cluster(py::module_& module) {
  module.attr("MOST_NODES") = kMostNodes;
  bind_instance(module);
  bind_batch(module);
  bind_backfill(module);
  bind_site(module);
  bind_dfrs(module);
  bind_measures(module);
  bind_mapping(module);
}

}  // namespace cosched::cluster::bindings
