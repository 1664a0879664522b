#include <string>
#include <variant>

#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/list/dmda.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/heteroprio.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/memory.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/dags/search/optimal.hpp"
#include "cosched/dags/search/replay.hpp"
#include "dags_records.hpp"

namespace cosched::dags {

using PlanColumns = std::tuple<bindings::Ints, bindings::Ints, bindings::Reals, bindings::Reals>;

PlanColumns in_python(Plan plan) {
  return {std::move(plan.kind), std::move(plan.unit), std::move(plan.start), std::move(plan.end)};
}

Plan from_python(PlanColumns columns, const Plan*) {
  Plan plan;
  std::tie(plan.kind, plan.unit, plan.start, plan.end) = std::move(columns);
  return plan;
}

namespace search {

bindings::py::dict in_python(OptimalResult found) {
  using namespace bindings;  // NOLINT
  return py::dict("plan"_a = found.plan, "bound"_a = found.bound, "transfers"_a = found.moving,
                  "failure"_a = found.failure,
                  "stopped_by"_a = stopped_by(found.proved, found.complete));
}

bindings::py::dict in_python(BestResult found) {
  using namespace bindings;  // NOLINT
  const auto [bound, method] = found.proven();
  const bool met = meets(found.plan.makespan(), bound);
  const std::string failure = found.failure();  // before the relaxation is moved out
  return py::dict("plan"_a = found.plan, "bound"_a = bound, "method"_a = method, "met"_a = met,
                  "failure"_a = failure, "stopped_by"_a = stopped_by(met, found.complete),
                  "relaxation"_a = std::move(found.relaxation));
}

}  // namespace search

namespace bindings {
namespace {

// memories: "host", "unit", or a number a unit.
Memories to_memories(const std::variant<std::string, Ints>& memories) {
  if (const auto* name = std::get_if<std::string>(&memories))
    return {*name == "host" ? Memories::Kind::host : Memories::Kind::unit, {}};
  return {Memories::Kind::given, std::get<Ints>(memories)};
}

// data: None, nothing moves; the rest is of no matter then.
Instance make_instance(Table times, const IntArray& edges, const Ints& units,
                       const std::optional<Reals>& data, const Table& bandwidth,
                       const Table& latency, const std::variant<std::string, Ints>& memories,
                       const std::optional<Reals>& capacity) {
  const std::vector<Edge> pairs = to_edges(edges);
  TaskGraph graph(static_cast<int>(times.rows()), pairs);
  if (!data) return {std::move(times), std::move(graph), units};
  const Instance plain(times, graph, units);  // refuses bad times and units first
  Transfers transfers(graph, units, pairs, *data,
                      {bandwidth, latency, to_memories(memories), capacity.value_or(Reals())});
  return {std::move(times), std::move(graph), units, std::move(transfers)};
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init(&make_instance), "times"_a, "edges"_a, "units"_a, "data"_a, "bandwidth"_a,
           "latency"_a, "memories"_a, "capacity"_a)
      .def_property_readonly(
          "limited", [](const Instance& instance) { return instance.transfers().limited(); })
      .def_property_readonly("data",
                             [](const Instance& instance) -> py::object {
                               if (!instance.transfers().given()) return py::none();
                               return frozen(std::vector<double>(instance.transfers().data()));
                             })
      .def_property_readonly("moves_free",
                             [](const Instance& instance) { return instance.transfers().free(); })
      .def(
          "transfer",
          [](const Instance& instance, int edge, std::pair<int, int> from, std::pair<int, int> to) {
            return instance.transfers().cost(edge, {from.first, from.second},
                                             {to.first, to.second});
          },
          "edge"_a, "from_unit"_a, "to_unit"_a)
      .def_property_readonly("times", table_of(&Instance::times))
      .def_property_readonly("edges",
                             [](const Instance& instance) {
                               Ints flat;
                               for (int task = 0; task < instance.tasks(); ++task)
                                 for (const int next : instance.graph().successors(task))
                                   flat.insert(flat.end(), {task, next});
                               return flat;
                             })
      .def_property_readonly(
          "order", [](const Instance& instance) -> Ints { return instance.graph().order(); })
      .def_property_readonly("tasks", &Instance::tasks)
      .def_property_readonly("types", &Instance::types)
      .def("validate", validator<Instance>([](const Instance& instance, const Schedule& schedule) {
             validate(schedule, check::requirements(instance));
             check::validate_memory(schedule, instance);
           }));
}

void bind_schedulers(py::module_& module) {
  def(module, "est", &list::est, "instance"_a, "allocation"_a);
  def(module, "ols", &list::ols, "instance"_a, "allocation"_a);
  def(module, "heft", &list::heft, "instance"_a);
  def(module, "cpop", &list::cpop, "instance"_a);
  def(module, "peft", &list::peft, "instance"_a);
  def(module, "etf", &list::etf, "instance"_a);
  def(module, "min_min", &list::min_min, "instance"_a);
  def(module, "memheft", &list::memheft, "instance"_a);
  def(module, "heteroprio", &list::heteroprio, "instance"_a);
  def(module, "qa", &list::qa, "instance"_a);
  def(
      module, "dmda",
      [](const Instance& instance, double alpha, double beta) {
        return list::dmda(instance, {alpha, beta});
      },
      "instance"_a, "alpha"_a, "beta"_a);
  def(
      module, "dmdas",
      [](const Instance& instance, const std::optional<Reals>& priority, double alpha,
         double beta) {
        return list::dmdas(instance, priority ? *priority : Reals(list::heft_ranks(instance)),
                           {alpha, beta});
      },
      "instance"_a, "priority"_a, "alpha"_a, "beta"_a);
  def(module, "er_ls", &list::er_ls, "instance"_a, "order"_a);
  def(module, "eft", &list::eft, "instance"_a, "order"_a);
  def(module, "greedy", &list::greedy, "instance"_a, "order"_a);
  def(module, "r1_ls", &list::r1_ls, "instance"_a, "order"_a);
  def(module, "r2_ls", &list::r2_ls, "instance"_a, "order"_a);
  def(module, "r3_ls", &list::r3_ls, "instance"_a, "order"_a);
  def(module, "random_types", &list::random_types, "instance"_a, "seed"_a, "order"_a);
}

void bind_searches(py::module_& module) {
  // `relaxation`: x and certificate of one that is known, None otherwise.
  def(
      module, "hlp_best",
      [](const Instance& instance, const std::optional<std::pair<Table, hlp::Certificate>>& known,
         std::uint64_t seed, std::int64_t evaluations, Seconds time_limit) {
        hlp::Solution given;
        if (known) std::tie(given.x, given.certificate) = *known;
        return search::hlp_best(instance, {seed, evaluations, time_limit},
                                known ? &given : nullptr);
      },
      "instance"_a, "relaxation"_a, "seed"_a, "evaluations"_a, "time_limit"_a);
  def(
      module, "optimal",
      [](const Instance& instance, std::int64_t nodes, Seconds time_limit) {
        return search::optimal(instance, {nodes, time_limit});
      },
      "instance"_a, "nodes"_a, "time_limit"_a);
}

// The plan with the times of `instance`; (draws,) makespans and bounds, the latter empty where
// `certificate` is None.
void bind_replay(py::module_& module) {
  def_names<search::Kept>(module, "Kept",
                          {{"units", search::Kept::units}, {"list", search::Kept::list}});
  def(
      module, "replay",
      [](const Instance& instance, const Plan& plan, search::Kept kept) {
        return search::Replay(instance, plan, kept).run(instance);
      },
      "instance"_a, "plan"_a, "kept"_a);
  def(
      module, "replay_draws",
      [](const Instance& instance, const Plan& plan, search::Kept kept, const Table& factors,
         const std::optional<hlp::Certificate>& certificate) {
        search::Draws draws = search::replay_draws(instance, plan, kept, factors,
                                                   certificate ? &*certificate : nullptr);
        return std::tuple<Reals, Reals>(std::move(draws.value), std::move(draws.bound));
      },
      "instance"_a, "plan"_a, "kept"_a, "factors"_a, "certificate"_a);
}

}  // namespace

void bind_dags(py::module_& module) {
  bind_instance(module);
  bind_schedulers(module);
  bind_bounds(module);
  bind_searches(module);
  bind_replay(module);
}

}  // namespace bindings
}  // namespace cosched::dags
