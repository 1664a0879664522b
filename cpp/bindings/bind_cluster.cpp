#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/cluster/bound/stretch_bound.hpp"
#include "cosched/cluster/check/validate_trace.hpp"
#include "cosched/cluster/dfrs/average_yields.hpp"
#include "cosched/cluster/dfrs/dfrs.hpp"
#include "cosched/cluster/dfrs/max_min_yields.hpp"
#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "cosched/cluster/dfrs/value_kinds.hpp"
#include "pybind.hpp"

namespace cosched::cluster {

bindings::py::dict in_python(const SimulationOutcome& outcome) {
  using namespace bindings;  // NOLINT
  return py::dict("start"_a = array_of(outcome.start), "end"_a = array_of(outcome.end),
                  "preemptions"_a = array_of(outcome.preemptions),
                  "migrations"_a = array_of(outcome.migrations),
                  "demand_area"_a = outcome.demand_area,
                  "preempted_memory"_a = outcome.preempted_memory,
                  "migrated_memory"_a = outcome.migrated_memory, "events"_a = outcome.events);
}

// One row for each time during which a job has the same nodes and yield: job, unit_begin, unit,
// start, end, yield, progress, cause.
using TraceColumns =
    std::tuple<bindings::Ints, bindings::Longs, bindings::py::array_t<int>,
               bindings::py::array_t<double>, bindings::py::array_t<double>,
               bindings::py::array_t<double>, bindings::py::array_t<double>, bindings::Ints>;

// Batch policies give each row a mapping of its own, in the order of the rows.
bool has_a_mapping_for_each_row(const Trace& trace) {
  if (static_cast<std::size_t>(trace.mappings()) != trace.rows()) return false;
  for (std::size_t r = 0; r < trace.rows(); ++r)
    if (trace.mapping[r] != static_cast<int>(r)) return false;
  return true;
}

// Long columns are handed over, not copied.
TraceColumns in_python(Trace trace) {
  using bindings::frozen;
  bindings::Ints cause;
  cause.reserve(trace.rows());
  for (const RowCause row_cause : trace.cause) cause.push_back(static_cast<int>(row_cause));
  bindings::Longs begin{std::vector<std::int64_t>{0}};
  std::vector<int> node;
  if (has_a_mapping_for_each_row(trace)) {
    begin = std::move(trace.node_begin);
    node = std::move(trace.node);
  } else {
    for (std::size_t r = 0; r < trace.rows(); ++r) {
      const auto first = trace.node_begin[trace.mapping[r]];
      const auto last = trace.node_begin[trace.mapping[r] + 1];
      node.insert(node.end(), trace.node.begin() + first, trace.node.begin() + last);
      begin.push_back(static_cast<std::int64_t>(node.size()));
    }
  }
  return {std::move(trace.job),
          std::move(begin),
          frozen(std::move(node)),
          frozen(std::move(trace.start)),
          frozen(std::move(trace.end)),
          frozen(std::move(trace.yield)),
          frozen(std::move(trace.progress)),
          std::move(cause)};
}

namespace bindings {

using namespace cosched::bindings;  // NOLINT

// A trace whose columns are arrays in Python: the long ones are read where they are.
class TraceOfArrays {
 public:
  // `columns`: as in_python(Trace) returns them.  Throws InvalidSchedule where they do not fit
  // together.
  explicit TraceOfArrays(const py::tuple& columns)
      : job_(columns[0].cast<Ints>()),
        node_begin_(columns[1].cast<ArrayOf<std::int64_t>>()),
        start_(columns[3].cast<RealArray>()),
        end_(columns[4].cast<RealArray>()),
        yield_(columns[5].cast<RealArray>()),
        progress_(columns[6].cast<RealArray>()) {
    if (py::isinstance<NodeArray>(columns[2]))
      nodes_ = columns[2].cast<NodeArray>();
    else
      checked_nodes_ = columns[2].cast<Ints>();  // may have numbers that are no int
    const auto causes = columns[7].cast<Ints>();
    require_equal_lengths(causes.size());
    mapping_.reserve(job_.size());
    cause_.reserve(job_.size());
    for (std::size_t row = 0; row < job_.size(); ++row) {
      if (causes[row] < 0 || causes[row] > static_cast<int>(RowCause::go_on))
        throw InvalidSchedule("placement " + std::to_string(row) + ": unknown cause");
      const std::int64_t begin = node_begin_.data()[row];
      const std::int64_t end = node_begin_.data()[row + 1];
      if (begin < 0 || begin > end || end > static_cast<std::int64_t>(nodes().size()))
        throw InvalidSchedule("placement " + std::to_string(row) +
                              ": unit_begin does not increase");
      mapping_.push_back(static_cast<int>(row));
      cause_.push_back(static_cast<RowCause>(causes[row]));
    }
  }

  // Valid as long as this object.
  TraceView view() const {
    TraceView view;
    view.job = job_;
    view.mapping = mapping_;
    view.start = span_of(start_);
    view.end = span_of(end_);
    view.yield = span_of(yield_);
    view.progress = span_of(progress_);
    view.cause = cause_;
    view.node_begin = span_of(node_begin_);
    view.node = nodes();
    return view;
  }

 private:
  using NodeArray = py::array_t<int, py::array::c_style>;

  template <class NumberArray>
  static std::span<const typename NumberArray::value_type> span_of(const NumberArray& array) {
    return {array.data(), static_cast<std::size_t>(array.size())};
  }
  std::span<const int> nodes() const {
    return checked_nodes_ ? std::span<const int>(*checked_nodes_) : span_of(nodes_);
  }
  void require_equal_lengths(std::size_t causes) const {
    const auto rows = static_cast<py::ssize_t>(job_.size());
    if (node_begin_.size() != rows + 1 || start_.size() != rows || end_.size() != rows ||
        yield_.size() != rows || progress_.size() != rows || causes != job_.size())
      throw InvalidSchedule("the schedule's columns have different lengths");
  }

  Ints job_;
  std::vector<int> mapping_;
  ArrayOf<std::int64_t> node_begin_;
  NodeArray nodes_;
  std::optional<Ints> checked_nodes_;
  RealArray start_;
  RealArray end_;
  RealArray yield_;
  RealArray progress_;
  std::vector<RowCause> cause_;
};

}  // namespace bindings

// time, job, action, and the reason as a sentence.
struct Explained {
  DecisionLog log;
  const Jobs* jobs;
};

auto in_python(const Explained& explained) {
  std::tuple<bindings::Reals, bindings::Ints, std::vector<const char*>, std::vector<std::string>>
      columns;
  for (const Decision& decision : explained.log) {
    std::get<0>(columns).push_back(decision.time);
    std::get<1>(columns).push_back(decision.job);
    std::get<2>(columns).push_back(to_string(decision.action));
    std::get<3>(columns).push_back(explain(decision, *explained.jobs));
  }
  return columns;
}

namespace bound {
auto in_python(const StretchBound& bound) {
  return std::make_tuple(bound.value, bound.tests, bound.is_exact);
}
}  // namespace bound

namespace bindings {

// bind_cluster_policy.cpp
SimulationOutcome run_python_policy(const Instance& instance, const py::object& policy,
                                    const dfrs::SimulationOptions& options, Trace* trace,
                                    DecisionLog* log);

namespace {

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const Reals& submit, const Ints& tasks, const Reals& cpu,
                       const Reals& memory, const Reals& runtime, const Reals& estimate, int nodes,
                       std::vector<std::string> id, const Ints& line, std::string source) {
             Jobs jobs{submit, tasks, cpu, memory, runtime, estimate};
             jobs.id = std::move(id);
             jobs.line = line;
             jobs.source = std::move(source);
             return Instance(std::move(jobs), nodes);
           }),
           "submit"_a, "tasks"_a, "cpu"_a, "memory"_a, "runtime"_a, "estimate"_a, "nodes"_a, "id"_a,
           "line"_a, "source"_a)
      .def_property_readonly("nodes", &Instance::nodes);
}

// Each simulation returns its outcome, a trace or None, a log or None.
template <class Run>
auto simulated(const Instance& instance, bool with_trace, bool with_log, Run run) {
  std::optional<Trace> trace;
  std::optional<Explained> log;
  if (with_trace) trace.emplace();
  if (with_log) log = Explained{{}, &instance.jobs()};
  SimulationOutcome outcome = run(trace ? &*trace : nullptr, log ? &log->log : nullptr);
  return std::make_tuple(std::move(outcome), std::move(trace), std::move(log));
}

batch::Estimates estimates_of(bool requested) {
  return requested ? batch::Estimates::requested : batch::Estimates::perfect;
}

void bind_batch(py::module_& module) {
  def(
      module, "fcfs",
      [](const Instance& instance, bool with_trace, bool with_log) {
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          SimulationOutcome outcome = batch::fcfs(instance, log);
          if (trace) *trace = batch::batch_trace(instance, outcome);
          return outcome;
        });
      },
      "instance"_a, "trace"_a, "log"_a);
  def(
      module, "easy",
      [](const Instance& instance, bool requested, bool with_trace, bool with_log) {
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          SimulationOutcome outcome = batch::easy(instance, estimates_of(requested), log);
          if (trace) *trace = batch::batch_trace(instance, outcome);
          return outcome;
        });
      },
      "instance"_a, "requested"_a, "trace"_a, "log"_a);
}

using Bits = Array<std::uint64_t>;

batch::Site make_site(const Ints& cores, const Reals& memory, const Ints& gpus, const Ints& cell,
                      const Ints& gpu_type, const Ints& first_core, const Ints& tasks,
                      const Ints& parts, const Reals& job_memory, const Ints& job_gpus,
                      const Bits& cells, const Bits& gpu_types,
                      std::vector<std::vector<int>> initial_cores) {
  std::vector<batch::SiteNode> nodes;
  for (std::size_t k = 0; k < cores.size(); ++k)
    nodes.push_back({{static_cast<std::int64_t>(memory.at(k)), cores[k], gpus.at(k)},
                     cell.at(k),
                     gpu_type.at(k),
                     first_core.at(k)});
  const batch::SiteRequests requests{.tasks = tasks,
                                     .parts = parts,
                                     .gpus = job_gpus,
                                     .memory = job_memory,
                                     .cells = cells,
                                     .gpu_types = gpu_types,
                                     .initial_cores = std::move(initial_cores)};
  return released([&] { return batch::Site(std::move(nodes), requests); });
}

void bind_backfill(py::module_& module) {
  using batch::BatchRule;
  def_names<BatchRule>(module, "Rule",
                       {{"FCFS", BatchRule::fcfs},
                        {"EASY", BatchRule::easy},
                        {"conservative", BatchRule::conservative}});
  py::class_<batch::Site>(module, "Site")
      .def(py::init(&make_site), "cores"_a, "memory"_a, "gpus"_a, "cell"_a, "gpu_type"_a,
           "first_core"_a, "tasks"_a, "parts"_a, "job_memory"_a, "job_gpus"_a, "cells"_a,
           "gpu_types"_a, "held"_a)
      .def_property_readonly("unfit",
                             [](const batch::Site& site) -> Ints { return site.oversized_jobs(); });
  def(
      module, "backfill_on",
      [](const Instance& instance, const batch::Site& site, batch::BatchRule rule, bool requested,
         bool wfp3, const Reals& keys, bool with_trace, bool with_log) {
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          auto placed =
              batch::backfill(instance, site, rule, {wfp3, keys}, estimates_of(requested), log);
          if (trace) *trace = batch::site_trace(instance, site, placed);
          return std::move(placed.outcome);
        });
      },
      "instance"_a, "site"_a, "rule"_a, "requested"_a, "wfp3"_a, "key"_a, "trace"_a, "log"_a);
  def(
      module, "backfill",
      [](const Instance& instance, batch::BatchRule rule, bool requested, bool wfp3,
         const Reals& keys, const Ints& cells, const Bits& open_cells,
         const std::vector<std::vector<int>>& initial_nodes, bool with_trace, bool with_log) {
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          batch::Layout layout = batch::one_cell_layout(instance);
          if (!cells.empty()) layout = {.nodes = cells, .open_cells = open_cells};
          layout.initial_nodes = initial_nodes;
          auto placed =
              batch::backfill(instance, layout, rule, {wfp3, keys}, estimates_of(requested), log);
          if (trace) *trace = batch::placed_trace(instance, layout, placed);
          return std::move(placed.outcome);
        });
      },
      "instance"_a, "rule"_a, "requested"_a, "wfp3"_a, "key"_a, "cells"_a, "allowed"_a, "held"_a,
      "trace"_a, "log"_a);
}

dfrs::SimulationOptions options_of(double period, double penalty) {
  dfrs::SimulationOptions options;
  options.period = period;
  options.penalty = penalty;
  return options;
}

void bind_dfrs(py::module_& module) {
  module.def(
      "spell",
      [](const std::string& text) -> std::optional<std::string> {
        const auto name = dfrs::parse_policy_name(text);
        if (!name) return std::nullopt;
        return dfrs::spell(*name);
      },
      "text"_a);
  module.def("paper_policies", [] {
    std::vector<std::string> names;
    for (const dfrs::PolicyName& name : dfrs::paper_policies()) names.push_back(dfrs::spell(name));
    return names;
  });
  def(
      module, "dfrs",
      [](const Instance& instance, const std::string& text, double period, double penalty,
         bool with_trace, bool with_log) {
        const auto name = dfrs::parse_policy_name(text);
        if (!name) throw InvalidInstance("policy '" + text + "': not a policy name");
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return dfrs::run_dfrs(instance, *name, options_of(period, penalty), trace, log);
        });
      },
      "instance"_a, "name"_a, "period"_a, "penalty"_a, "trace"_a, "log"_a);
  module.def(
      "python_policy",
      [](const Instance& instance, const py::object& policy, double period, double penalty,
         bool with_trace, bool with_log) {
        return simulated(instance, with_trace, with_log, [&](Trace* trace, DecisionLog* log) {
          return run_python_policy(instance, policy, options_of(period, penalty), trace, log);
        });
      },
      "instance"_a, "policy"_a, "period"_a, "penalty"_a, "trace"_a, "log"_a);
}

void bind_measures(py::module_& module) {
  module.def("stretches", crossing(&stretches), "instance"_a, "end"_a, "threshold"_a);
  module.def(
      "underutilisation",
      [](const Instance& instance, double demand_area) {
        SimulationOutcome outcome;
        outcome.demand_area = demand_area;
        return underutilisation(instance, outcome);
      },
      "instance"_a, "demand_area"_a);
  def(
      module, "max_stretch_bound",
      [](const Instance& instance, double threshold,
         const std::vector<std::pair<Reals, double>>& resources) {
        std::vector<bound::StretchResource> stretch_resources;
        for (const auto& [usage, capacity] : resources)
          stretch_resources.push_back({usage, capacity});
        return bound::max_stretch_bound(instance, stretch_resources, threshold);
      },
      "instance"_a, "threshold"_a, "resources"_a);
  module.def(
      "validate",
      [](const Instance& instance, const py::tuple& trace, Reals first, Reals last,
         Ints preemptions, Ints migrations, double penalty, bool exclusive) {
        const TraceOfArrays rows(trace);
        SimulationOutcome outcome;
        outcome.start = std::move(first);
        outcome.end = std::move(last);
        outcome.preemptions = std::move(preemptions);
        outcome.migrations = std::move(migrations);
        released([&] {
          check::validate_trace(instance, rows.view(), outcome,
                                check::TraceRules{penalty, exclusive});
        });
      },
      "instance"_a, "trace"_a, "first"_a, "last"_a, "preemptions"_a, "migrations"_a, "penalty"_a,
      "exclusive"_a);
}

using Lists = std::vector<std::vector<int>>;

Lists to_lists(const std::vector<dfrs::NodeList>& node_lists) {
  Lists lists;
  for (const dfrs::NodeList& nodes : node_lists) lists.emplace_back(nodes.begin(), nodes.end());
  return lists;
}

void bind_mapping(py::module_& module) {
  def(
      module, "yields",
      [](const Lists& where, const Reals& cpu, int nodes, const std::string& opt) -> Reals {
        dfrs::Mapping mapping;
        mapping.nodes = nodes;
        mapping.cpu = cpu;
        const std::vector<dfrs::NodeList> lists(where.begin(), where.end());
        for (const dfrs::NodeList& list : lists) mapping.nodes_of_job.push_back(&list);
        if (opt == "min") return dfrs::max_min_yields(mapping);
        std::vector<double> base_yields = dfrs::base_yields(mapping);
        if (opt == "base") return base_yields;
        const std::vector<double> equal_weights(base_yields.size(), 1.0);
        return dfrs::best_average_yields(mapping, base_yields, equal_weights);
      },
      "where"_a, "cpu"_a, "nodes"_a, "opt"_a);
  def(
      module, "mcb8",
      [](const Ints& tasks, Reals cpu, const Reals& memory, int nodes,
         double yield) -> std::optional<Lists> {
        for (double& need : cpu) need *= yield;
        dfrs::Mcb8 mcb8(tasks, memory, nodes);
        if (!mcb8.pack(cpu, dfrs::sort_by_decreasing_value(cpu))) return std::nullopt;
        mcb8.save_packing();
        return to_lists(mcb8.placement());
      },
      "tasks"_a, "cpu"_a, "memory"_a, "nodes"_a, "yield_"_a);
  def(
      module, "mcb8_search",
      [](const Ints& tasks, const Reals& cpu, const Reals& memory,
         int nodes) -> std::optional<std::pair<double, Lists>> {
        dfrs::Mcb8 mcb8(tasks, memory, nodes);
        if (mcb8.has_too_much_memory()) return std::nullopt;
        const auto yield =
            dfrs::find_best_target(mcb8, dfrs::yield_target(cpu), dfrs::kYieldAccuracy);
        if (!yield) return std::nullopt;
        return std::pair(*yield, to_lists(mcb8.placement()));
      },
      "tasks"_a, "cpu"_a, "memory"_a, "nodes"_a);
}

}  // namespace

void bind_cluster(py::module_& module) {
  module.attr("MOST_NODES") = kMaxNodes;
  bind_instance(module);
  bind_batch(module);
  bind_backfill(module);
  bind_dfrs(module);
  bind_measures(module);
  bind_mapping(module);
}

}  // namespace bindings
}  // namespace cosched::cluster
