#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/relaxation.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/windows.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/model.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/windows.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "dags_certificates.hpp"
#include "pybind.hpp"

namespace cosched::dags::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

// Edges as an (e, 2) array.
std::vector<Edge> to_edges(const IntArray& edges) {
  if (edges.ndim() != 2 || edges.shape(1) != 2)
    throw InvalidInstance("edges: expected shape (e, 2)");
  const auto flat = to_ints(edges.attr("ravel")().cast<IntArray>(), "edges");
  std::vector<Edge> pairs;
  for (std::size_t k = 0; k < flat.size(); k += 2) pairs.emplace_back(flat[k], flat[k + 1]);
  return pairs;
}

py::tuple plan_tuple(const Plan& plan) {
  return py::make_tuple(int_array(plan.kind), int_array(plan.unit), real_array(plan.start),
                        real_array(plan.end));
}

// (edges, flow on them); arrays read-only.
py::tuple edge_flow_tuple(const std::vector<hlp::EdgeFlow>& flow) {
  std::vector<std::int64_t> edges;
  std::vector<double> amount;
  for (const hlp::EdgeFlow& edge : flow) {
    edges.push_back(edge.from);
    edges.push_back(edge.to);
    amount.push_back(edge.amount);
  }
  const auto used = static_cast<py::ssize_t>(flow.size());
  return py::make_tuple(frozen(std::move(edges), {used, 2}), frozen(std::move(amount)));
}

std::vector<hlp::EdgeFlow> to_edge_flow(const IntArray& edges, const RealArray& amount) {
  const std::vector<Edge> pairs = to_edges(edges);
  const std::vector<double> amounts = to_reals(amount);
  if (pairs.size() != amounts.size())
    throw InvalidInstance("certificate: edge arrays of different lengths");
  std::vector<hlp::EdgeFlow> flow;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    flow.push_back({pairs[k].first, pairs[k].second, amounts[k]});
  return flow;
}

// (value, x, C, weights, task flow, edges with flow, flow on them, complete); arrays read-only.
py::tuple solution_tuple(hlp::Solution&& found) {
  hlp::Certificate& proof = found.certificate;
  const py::tuple flow = edge_flow_tuple(proof.edge_flow);
  const py::ssize_t n = found.x.rows(), types = found.x.cols();
  return py::make_tuple(found.value, frozen(std::move(found.x), {n, types}),
                        frozen(std::move(found.completion)), frozen(std::move(proof.weights)),
                        frozen(std::move(proof.task_flow)), flow[0], flow[1], found.complete,
                        found.failure);
}

}  // namespace

hlp::Certificate to_certificate(const py::tuple& given) {
  return {to_reals(given[0].cast<RealArray>()), to_reals(given[1].cast<RealArray>()),
          to_edge_flow(given[2].cast<IntArray>(), given[3].cast<RealArray>())};
}

py::object intervals_array(const std::vector<proof::PricedInterval>& intervals) {
  std::vector<double> entries;
  for (const auto& [interval, price] : intervals)
    for (const double entry :
         {static_cast<double>(interval.type), interval.begin, interval.end, price})
      entries.push_back(entry);
  const auto count = static_cast<py::ssize_t>(intervals.size());
  return frozen(std::move(entries), {count, 4});
}

std::vector<proof::PricedInterval> to_intervals(const py::handle& rows) {
  const Table table = to_table(rows.cast<RealArray>());
  std::vector<proof::PricedInterval> intervals;
  for (std::ptrdiff_t k = 0; k < table.rows(); ++k)
    intervals.push_back({{static_cast<int>(table(k, 0)), table(k, 1), table(k, 2)}, table(k, 3)});
  return intervals;
}

py::dict model_dict(const lp::Model& model) {
  std::vector<int> row, col;
  std::vector<double> value;
  for (const lp::Entry& entry : model.entries) {
    row.push_back(entry.row);
    col.push_back(entry.col);
    value.push_back(entry.value);
  }
  py::dict arrays;
  arrays["cost"] = real_array(model.cost);
  arrays["lower"] = real_array(model.lower);
  arrays["upper"] = real_array(model.upper);
  arrays["row_lower"] = real_array(model.row_lower);
  arrays["row_upper"] = real_array(model.row_upper);
  arrays["row"] = int_array(row);
  arrays["col"] = int_array(col);
  arrays["value"] = real_array(value);
  return arrays;
}

namespace {

// (raise, loads, task flow, edges, flow on them, intervals).
py::tuple stage_tuple(proof::RefutationStage stage) {
  const py::object intervals = intervals_array(stage.intervals);
  const py::tuple flow = edge_flow_tuple(stage.edge_flow);
  return py::make_tuple(frozen(std::move(stage.raise)), frozen(std::move(stage.loads)),
                        frozen(std::move(stage.task_flow)), flow[0], flow[1], intervals);
}

proof::RefutationStage to_stage(const py::tuple& given) {
  proof::RefutationStage stage;
  stage.raise = to_reals(given[0].cast<RealArray>());
  stage.loads = to_reals(given[1].cast<RealArray>());
  stage.task_flow = to_reals(given[2].cast<RealArray>());
  stage.edge_flow = to_edge_flow(given[3].cast<IntArray>(), given[4].cast<RealArray>());
  stage.intervals = to_intervals(given[5]);
  return stage;
}

}  // namespace

proof::WindowsCertificate to_windows(const py::tuple& relaxation, double makespan,
                                     const py::tuple& stages) {
  proof::WindowsCertificate certificate{to_certificate(relaxation), {makespan, {}}};
  for (const py::handle stage : stages)
    certificate.refutation.stages.push_back(to_stage(stage.cast<py::tuple>()));
  return certificate;
}

namespace {

// (value, complete, refuted makespan, stages).
py::tuple windows_tuple(proof::WindowsBound found) {
  py::list stages;
  for (proof::RefutationStage& stage : found.certificate.refutation.stages)
    stages.append(stage_tuple(std::move(stage)));
  return py::make_tuple(found.value, found.complete, found.certificate.refutation.makespan,
                        py::tuple(stages), found.failure);
}

// An algorithm that needs the instance only.
template <class Solver>
auto of_instance(Solver solver) {
  return [solver](const Instance& instance) {
    return plan_tuple(released([&] { return solver(instance); }));
  };
}

// An algorithm for a given allocation.
template <class Solver>
auto of_allocation(Solver solver) {
  return [solver](const Instance& instance, const IntArray& allocation) {
    const Allocation types = to_ints(allocation, "allocation");
    return plan_tuple(released([&] { return solver(instance, types); }));
  };
}

// An on-line rule; `order` None is the graph's own topological order.
template <class Rule>
auto online(Rule rule) {
  return [rule](const Instance& instance, const std::optional<IntArray>& order) {
    const list::Arrivals arrivals = order ? to_ints(*order, "order") : instance.graph().order();
    return plan_tuple(released([&] { return rule(instance, arrivals); }));
  };
}

// memories: "host", "unit", or a number a unit.
Memories to_memories(const std::variant<std::string, IntArray>& memories) {
  if (const auto* name = std::get_if<std::string>(&memories))
    return {*name == "host" ? Memories::Kind::host : Memories::Kind::unit, {}};
  return {Memories::Kind::given, to_ints(std::get<IntArray>(memories), "memories")};
}

// data: None, nothing moves; the rest is of no matter then.
Instance make_instance(const RealArray& times, const IntArray& edges, const IntArray& units,
                       const std::optional<RealArray>& data, const RealArray& bandwidth,
                       const RealArray& latency,
                       const std::variant<std::string, IntArray>& memories) {
  Table table = to_table(times);
  const std::vector<Edge> pairs = to_edges(edges);
  const std::vector<int> counts = to_ints(units, "units");
  TaskGraph graph(static_cast<int>(table.rows()), pairs);
  if (!data) return {std::move(table), std::move(graph), counts};
  const Instance plain(table, graph, counts);  // refuses bad times and units first
  Transfers transfers(graph, counts, pairs, to_reals(*data),
                      {to_table(bandwidth), to_table(latency), to_memories(memories)});
  return {std::move(table), std::move(graph), counts, std::move(transfers)};
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init(&make_instance), py::arg("times"), py::arg("edges"), py::arg("units"),
           py::arg("data"), py::arg("bandwidth"), py::arg("latency"), py::arg("memories"))
      .def_property_readonly("data",
                             [](const Instance& instance) -> py::object {
                               if (!instance.transfers().given()) return py::none();
                               std::vector<double> data = instance.transfers().data();
                               return frozen(std::move(data));
                             })
      .def_property_readonly("moves_free",
                             [](const Instance& instance) { return instance.transfers().free(); })
      .def(
          "transfer",
          [](const Instance& instance, int edge, std::pair<int, int> from, std::pair<int, int> to) {
            return instance.transfers().cost(edge, {from.first, from.second},
                                             {to.first, to.second});
          },
          py::arg("edge"), py::arg("from_unit"), py::arg("to_unit"))
      .def_property_readonly("times",
                             [](const py::object& self) {
                               return table_view(self.cast<const Instance&>().times(), self);
                             })
      .def_property_readonly("edges",
                             [](const Instance& instance) {
                               std::vector<int> flat;
                               for (int task = 0; task < instance.tasks(); ++task)
                                 for (const int next : instance.graph().successors(task)) {
                                   flat.push_back(task);
                                   flat.push_back(next);
                                 }
                               return int_array(flat);
                             })
      .def_property_readonly(
          "order", [](const Instance& instance) { return int_array(instance.graph().order()); })
      .def_property_readonly("tasks", &Instance::tasks)
      .def_property_readonly("types", &Instance::types)
      .def(
          "validate",
          [](const Instance& instance, const IntArray& task, const IntArray& kind,
             const IntArray& unit_begin, const IntArray& unit, const RealArray& start,
             const RealArray& end) {
            const Schedule schedule =
                bindings::to_schedule(task, kind, unit_begin, unit, start, end);
            released([&] { validate(schedule, check::requirements(instance)); });
          },
          py::arg("task"), py::arg("kind"), py::arg("unit_begin"), py::arg("unit"),
          py::arg("start"), py::arg("end"));
}

void bind_schedulers(py::module_& module) {
  module.def("est", of_allocation([](const auto&... given) { return list::est(given...); }),
             py::arg("instance"), py::arg("allocation"));
  module.def("ols", of_allocation([](const auto&... given) { return list::ols(given...); }),
             py::arg("instance"), py::arg("allocation"));
  module.def("heft", of_instance([](const Instance& instance) { return list::heft(instance); }),
             py::arg("instance"));
  module.def("cpop", of_instance(&list::cpop), py::arg("instance"));
  module.def("peft", of_instance(&list::peft), py::arg("instance"));
  module.def("etf", of_instance(&list::etf), py::arg("instance"));
  module.def("min_min", of_instance(&list::min_min), py::arg("instance"));
  module.def("er_ls", online(&list::er_ls), py::arg("instance"), py::arg("order"));
  module.def("eft", online(&list::eft), py::arg("instance"), py::arg("order"));
  module.def("greedy", online(&list::greedy), py::arg("instance"), py::arg("order"));
  module.def("r1_ls", online(&list::r1_ls), py::arg("instance"), py::arg("order"));
  module.def("r2_ls", online(&list::r2_ls), py::arg("instance"), py::arg("order"));
  module.def("r3_ls", online(&list::r3_ls), py::arg("instance"), py::arg("order"));
  module.def(
      "random_types",
      [](const Instance& instance, std::uint64_t seed, const std::optional<IntArray>& order) {
        const list::Arrivals arrivals = order ? to_ints(*order, "order") : instance.graph().order();
        return plan_tuple(released([&] { return list::random_types(instance, seed, arrivals); }));
      },
      py::arg("instance"), py::arg("seed"), py::arg("order"));
}

void bind_hlp(py::module_& module) {
  module.def(
      "hlp",
      [](const Instance& instance, const std::string& method) {
        const hlp::Method chosen = method == "glpk"          ? hlp::Method::glpk
                                   : method == "glpk-primal" ? hlp::Method::glpk_primal
                                                             : hlp::Method::structured;
        return solution_tuple(released([&] { return hlp::hlp(instance, chosen); }));
      },
      py::arg("instance"), py::arg("method"));
  module.def(
      "hlp_so_far",
      [](const Instance& instance) {
        return solution_tuple(released([&] { return hlp::hlp_so_far(instance); }));
      },
      py::arg("instance"));
  module.def(
      "hlp_model", [](const Instance& instance) { return model_dict(hlp::hlp_model(instance)); },
      py::arg("instance"));
  module.def(
      "hlp_from_lp",
      [](const Instance& instance, double objective, const RealArray& x, const RealArray& dual) {
        lp::Solution solution;
        solution.status = lp::Status::optimal;
        solution.objective = objective;
        solution.x = to_reals(x);
        solution.dual = to_reals(dual);
        const lp::Model model = hlp::hlp_model(instance);
        if (static_cast<int>(solution.x.size()) != model.columns() ||
            static_cast<int>(solution.dual.size()) != model.rows())
          throw InvalidInstance("hlp_from_lp: expected a value a column and a price a row");
        return solution_tuple(hlp::hlp_from_lp(instance, solution));
      },
      py::arg("instance"), py::arg("objective"), py::arg("x"), py::arg("dual"));
  module.def(
      "certified_bound",
      [](const Instance& instance, const RealArray& weights, const RealArray& task_flow,
         const IntArray& edges, const RealArray& edge_flow) {
        const hlp::Certificate certificate{to_reals(weights), to_reals(task_flow),
                                           to_edge_flow(edges, edge_flow)};
        return released([&] { return check::certified_bound(instance, certificate); });
      },
      py::arg("instance"), py::arg("weights"), py::arg("task_flow"), py::arg("edges"),
      py::arg("edge_flow"));
  module.def(
      "round_allocation",
      [](const RealArray& times, const RealArray& x, double threshold) {
        return int_array(hlp::round_allocation(to_table(times), to_table(x), threshold));
      },
      py::arg("times"), py::arg("x"), py::arg("threshold"));
  module.def(
      "area_bound",
      [](const Instance& instance) { return released([&] { return hlp::area_bound(instance); }); },
      py::arg("instance"));
  module.def(
      "critical_path_bound",
      [](const Instance& instance) {
        return released([&] { return hlp::critical_path_bound(instance); });
      },
      py::arg("instance"));
}

// x and certificate of a relaxation: all that a search wants of it.
hlp::Solution to_solution(const RealArray& x, const py::tuple& certificate) {
  hlp::Solution solution;
  solution.x = to_table(x);
  solution.certificate = to_certificate(certificate);
  return solution;
}

// plan, its bound, whether that is `transfers` (else `windows`), why a solver failed (or ""), whether the
// plan meets the bound, what ended the search, relaxation (None where one was given).
void bind_hlp_best(py::module_& module) {
  module.def(
      "hlp_best",
      [](const Instance& instance, const std::optional<RealArray>& x,
         const std::optional<py::tuple>& certificate, std::uint64_t seed, std::int64_t evaluations,
         std::optional<double> time_limit) {
        std::optional<hlp::Solution> given;
        if (x && certificate) given = to_solution(*x, *certificate);
        const search::BestOptions options{seed, evaluations, time_limit};
        search::BestResult found = released(
            [&] { return search::hlp_best(instance, options, given ? &*given : nullptr); });
        const bool moving = found.moving && found.moving->value > found.bound.value;
        const double value = moving ? found.moving->value : found.bound.value;
        const bool met = search::meets(found.plan.makespan(), value);
        return py::make_tuple(plan_tuple(found.plan), value, moving, found.failure(), met,
                              stopped_by(met, found.complete),
                              given ? py::object(py::none())
                                    : py::object(solution_tuple(std::move(found.relaxation))));
      },
      py::arg("instance"), py::arg("x"), py::arg("certificate"), py::arg("seed"),
      py::arg("evaluations"), py::arg("time_limit"));
}

void bind_windows(py::module_& module) {
  module.def(
      "windows_bound",
      [](const Instance& instance, const py::tuple& relaxation, std::optional<double> upper) {
        const hlp::Certificate proof = to_certificate(relaxation);
        proof::BoundOptions options;
        options.upper = upper;
        return windows_tuple(
            released([&] { return proof::windows_bound(instance, proof, options); }));
      },
      py::arg("instance"), py::arg("relaxation"), py::arg("upper"));
  module.def(
      "certified_windows",
      [](const Instance& instance, const py::tuple& relaxation, double makespan,
         const py::tuple& stages) {
        const proof::WindowsCertificate certificate = to_windows(relaxation, makespan, stages);
        return released([&] { return check::certified_bound(instance, certificate); });
      },
      py::arg("instance"), py::arg("relaxation"), py::arg("makespan"), py::arg("stages"));
}

}  // namespace

void bind_dags(py::module_& module) {
  bind_instance(module);
  bind_schedulers(module);
  bind_hlp(module);
  bind_hlp_best(module);
  bind_windows(module);
  bind_transfers(module);
}

}  // namespace cosched::dags::bindings
