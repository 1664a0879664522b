#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/memory.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/dmda.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/heteroprio.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/memory.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/dags/search/optimal.hpp"
#include "cosched/dags/search/replay.hpp"
#include "dags_certificates.hpp"
#include "pybind.hpp"

namespace cosched::dags::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

py::tuple plan_tuple(const Plan& plan) {
  return py::make_tuple(int_array(plan.kind), int_array(plan.unit), real_array(plan.start),
                        real_array(plan.end));
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
                       const std::variant<std::string, IntArray>& memories,
                       const std::optional<RealArray>& capacity) {
  Table table = to_table(times);
  const std::vector<Edge> pairs = to_edges(edges);
  const std::vector<int> counts = to_ints(units, "units");
  TaskGraph graph(static_cast<int>(table.rows()), pairs);
  if (!data) return {std::move(table), std::move(graph), counts};
  const Instance plain(table, graph, counts);  // refuses bad times and units first
  Transfers transfers(graph, counts, pairs, to_reals(*data),
                      {to_table(bandwidth), to_table(latency), to_memories(memories),
                       capacity ? to_reals(*capacity) : std::vector<double>{}});
  return {std::move(table), std::move(graph), counts, std::move(transfers)};
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init(&make_instance), py::arg("times"), py::arg("edges"), py::arg("units"),
           py::arg("data"), py::arg("bandwidth"), py::arg("latency"), py::arg("memories"),
           py::arg("capacity"))
      .def_property_readonly(
          "limited", [](const Instance& instance) { return instance.transfers().limited(); })
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
            released([&] {
              validate(schedule, check::requirements(instance));
              check::validate_memory(schedule, instance);
            });
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
  module.def("memheft", of_instance(&list::memheft), py::arg("instance"));
  module.def("heteroprio", of_instance(&list::heteroprio), py::arg("instance"));
  module.def("qa", of_instance(&list::qa), py::arg("instance"));
  module.def(
      "dmda",
      [](const Instance& instance, double alpha, double beta) {
        return plan_tuple(released([&] { return list::dmda(instance, {alpha, beta}); }));
      },
      py::arg("instance"), py::arg("alpha"), py::arg("beta"));
  module.def(
      "dmdas",
      [](const Instance& instance, const std::optional<RealArray>& priority, double alpha,
         double beta) {
        const std::vector<double> ranks =
            priority ? to_reals(*priority) : list::heft_ranks(instance);
        return plan_tuple(released([&] { return list::dmdas(instance, ranks, {alpha, beta}); }));
      },
      py::arg("instance"), py::arg("priority"), py::arg("alpha"), py::arg("beta"));
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

// `relaxation`: x and certificate of one that is known, None otherwise.  plan; bound, and whether that is
// `transfers` (else `windows`); why a solver failed, or ""; met, whether the plan meets the bound; what
// ended the search; relaxation, None where one was given.
void bind_hlp_best(py::module_& module) {
  module.def(
      "hlp_best",
      [](const Instance& instance, const std::optional<py::dict>& relaxation, std::uint64_t seed,
         std::int64_t evaluations, std::optional<double> time_limit) {
        std::optional<hlp::Solution> given;
        if (relaxation) {
          given.emplace();
          given->x = to_table((*relaxation)["x"].cast<RealArray>());
          given->certificate = to_certificate((*relaxation)["certificate"]);
        }
        const search::BestOptions options{seed, evaluations, time_limit};
        search::BestResult found = released(
            [&] { return search::hlp_best(instance, options, given ? &*given : nullptr); });
        const bool moving = found.moving && found.moving->value > found.bound.value;
        const double time = moving ? found.moving->value : found.bound.value;
        const double bound = std::max(time, found.memory);
        py::dict made;
        made["plan"] = plan_tuple(found.plan);
        made["bound"] = bound;
        made["method"] = found.memory > time ? "memory" : moving ? "transfers" : "windows";
        made["met"] = search::meets(found.plan.makespan(), bound);
        made["failure"] = found.failure();
        made["stopped_by"] =
            stopped_by(search::meets(found.plan.makespan(), bound), found.complete);
        made["relaxation"] =
            given ? py::object(py::none()) : py::object(solution_dict(std::move(found.relaxation)));
        return made;
      },
      py::arg("instance"), py::arg("relaxation"), py::arg("seed"), py::arg("evaluations"),
      py::arg("time_limit"));
}

// plan, bound, whether that is `transfers` (else `windows`), why a solver failed, what ended the search.
void bind_optimal(py::module_& module) {
  module.def(
      "optimal",
      [](const Instance& instance, std::int64_t nodes, std::optional<double> time_limit) {
        const search::OptimalResult found = released([&] {
          return search::optimal(instance, {nodes, time_limit});
        });
        py::dict made;
        made["plan"] = plan_tuple(found.plan);
        made["bound"] = found.bound;
        made["transfers"] = found.moving;
        made["failure"] = found.failure;
        made["stopped_by"] = stopped_by(found.proved, found.complete);
        return made;
      },
      py::arg("instance"), py::arg("nodes"), py::arg("time_limit"));
}

// `list`: the list order is kept, else the units.  replay: the plan with the times of `instance`;
// replay_draws: (draws,) makespans and bounds, the latter empty where `certificate` is None.
void bind_replay(py::module_& module) {
  const auto to_plan = [](const IntArray& kind, const IntArray& unit, const RealArray& start,
                          const RealArray& end) {
    Plan plan;
    plan.kind = to_ints(kind, "kind");
    plan.unit = to_ints(unit, "unit");
    plan.start = to_reals(start);
    plan.end = to_reals(end);
    return plan;
  };
  const auto kept = [](bool list) { return list ? search::Kept::list : search::Kept::units; };
  module.def(
      "replay",
      [=](const Instance& instance, const IntArray& kind, const IntArray& unit,
          const RealArray& start, const RealArray& end, bool list) {
        const Plan plan = to_plan(kind, unit, start, end);
        return plan_tuple(
            released([&] { return search::Replay(instance, plan, kept(list)).run(instance); }));
      },
      py::arg("instance"), py::arg("kind"), py::arg("unit"), py::arg("start"), py::arg("end"),
      py::arg("list"));
  module.def(
      "replay_draws",
      [=](const Instance& instance, const IntArray& kind, const IntArray& unit,
          const RealArray& start, const RealArray& end, bool list, const RealArray& factors,
          const std::optional<py::dict>& certificate) {
        const Plan plan = to_plan(kind, unit, start, end);
        const Table table = to_table(factors);
        std::optional<hlp::Certificate> relaxation;
        if (certificate) relaxation = to_certificate(*certificate);
        search::Draws draws = released([&] {
          return search::replay_draws(instance, plan, kept(list), table,
                                      relaxation ? &*relaxation : nullptr);
        });
        return py::make_tuple(frozen(std::move(draws.value)), frozen(std::move(draws.bound)));
      },
      py::arg("instance"), py::arg("kind"), py::arg("unit"), py::arg("start"), py::arg("end"),
      py::arg("list"), py::arg("factors"), py::arg("certificate"));
}

}  // namespace

void bind_dags(py::module_& module) {
  bind_instance(module);
  bind_schedulers(module);
  bind_bounds(module);
  bind_hlp_best(module);
  bind_optimal(module);
  bind_replay(module);
}

}  // namespace cosched::dags::bindings
