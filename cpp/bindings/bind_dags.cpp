#include <array>
#include <variant>

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/dmda.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/heteroprio.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/memheft.hpp"
#include "cosched/dags/list/memory_insertion.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/proof/transfers_relaxation.hpp"
#include "cosched/dags/search/branch_and_bound.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/dags/search/optimal.hpp"
#include "cosched/dags/search/replay.hpp"
#include "cosched/dags/search/replay_draws.hpp"
#include "cosched/lp/model.hpp"
#include "records.hpp"

namespace cosched::dags::hlp {

template <class Visit>
void fields(HlpCertificate& certificate, const Visit& visit) {
  visit("weights", certificate.weights);
  visit("task_flow", certificate.task_flow);
  visit("edge_flow", certificate.edge_flow);
}

template <class Visit>
void fields(HlpSolution& solution, const Visit& visit) {
  visit("value", solution.value);
  visit("x", solution.x);
  visit("C", solution.completion);
  visit("certificate", solution.certificate);
  visit("complete", solution.complete);
  visit("failure", solution.failure);
}

}  // namespace cosched::dags::hlp

namespace cosched::dags::proof {

std::array<double, 4> row_of(const PricedInterval& row) {
  return {static_cast<double>(row.interval.type), row.interval.begin, row.interval.end, row.price};
}
PricedInterval from_row(const std::array<double, 4>& row, const PricedInterval*) {
  return {{static_cast<int>(row[0]), row[1], row[2]}, row[3]};
}

/// Whether of an edge; task or edge; type or way.
std::array<int, 3> row_of(const TransferGuess& row) {
  return {static_cast<int>(row.is_edge), row.item, row.choice};
}
TransferGuess from_row(const std::array<int, 3>& row, const TransferGuess*) {
  return {row[0] != 0, row[1], row[2]};
}

template <class Visit>
void fields(RefutationStage& stage, const Visit& visit) {
  visit("raise_heads", stage.load_weights);
  visit("loads", stage.loads);
  visit("task_flow", stage.task_flow);
  visit("edge_flow", stage.edge_flow);
  visit("intervals", stage.intervals);
}

template <class Visit>
void fields(TransferStage& stage, const Visit& visit) {
  visit("raise_heads", stage.load_weights);
  visit("loads", stage.loads);
  visit("task_flow", stage.task_flow);
  visit("edge_flow", stage.edge_flow);
  visit("shift", stage.shift);
  visit("intervals", stage.intervals);
  visit("guesses", stage.guesses);
}

template <class Visit>
void fields(Refutation& refutation, const Visit& visit) {
  visit("makespan", refutation.makespan);
  visit("stages", refutation.stages);
}

template <class Visit>
void fields(TransferRefutation& refutation, const Visit& visit) {
  visit("makespan", refutation.makespan);
  visit("stages", refutation.stages);
  visit("clusters", refutation.uses_clusters);
}

template <class Visit>
void fields(WindowsCertificate& certificate, const Visit& visit) {
  visit("relaxation", certificate.relaxation);
  fields(certificate.refutation, visit);
}

template <class Visit>
void fields(TransfersCertificate& certificate, const Visit& visit) {
  visit("windows", certificate.windows);
  fields(certificate.refutation, visit);
}

/// Without what the bound began with, which the caller has.
template <class Certificate, class Visit>
void fields(ProvenBound<Certificate>& bound, const Visit& visit) {
  fields(bound.certificate.refutation, visit);
  visit("value", bound.value);
  visit("complete", bound.complete);
  visit("failure", bound.failure);
}

template <class Visit>
void fields(TransfersRelaxation& relaxation, const Visit& visit) {
  fields(relaxation.refutation, visit);
  visit("value", relaxation.value);
  visit("x", relaxation.x);
  visit("C", relaxation.completion);
}

}  // namespace cosched::dags::proof

namespace cosched::lp {

/// A model's arrays, for a back end in Python.
bindings::py::dict in_python(const Model& model) {
  using namespace bindings;  // NOLINT
  Ints row, col;
  Reals value;
  for (const Entry& entry : model.entries) {
    row.push_back(entry.row);
    col.push_back(entry.col);
    value.push_back(entry.value);
  }
  return py::dict("cost"_a = array_of(model.cost), "lower"_a = array_of(model.lower),
                  "upper"_a = array_of(model.upper), "row_lower"_a = array_of(model.row_lower),
                  "row_upper"_a = array_of(model.row_upper), "row"_a = row, "col"_a = col,
                  "value"_a = value);
}

}  // namespace cosched::lp

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

bindings::py::dict in_python(OptimalResult search) {
  using namespace bindings;  // NOLINT
  return py::dict("plan"_a = search.plan, "bound"_a = search.bound,
                  "transfers"_a = search.is_transfers_bound, "failure"_a = search.failure,
                  "stopped_by"_a = stopped_by(search.is_proved, search.is_complete));
}

bindings::py::dict in_python(HlpBestResult search) {
  using namespace bindings;  // NOLINT
  const auto [bound, method] = search.best_bound();
  const bool met = is_proven_optimal(search.plan.makespan(), bound);
  const std::string failure = search.solver_failure();  // before the relaxation is moved out
  return py::dict("plan"_a = search.plan, "bound"_a = bound, "method"_a = method, "met"_a = met,
                  "failure"_a = failure, "stopped_by"_a = stopped_by(met, search.is_complete),
                  "relaxation"_a = std::move(search.relaxation));
}

}  // namespace search

namespace bindings {

using namespace cosched::bindings;  // NOLINT

namespace {

// memories: "host", "unit", or a number a unit.
Memories to_memories(const std::variant<std::string, Ints>& memories) {
  if (const auto* name = std::get_if<std::string>(&memories))
    return {*name == "host" ? Memories::MemoryKind::host : Memories::MemoryKind::unit, {}};
  return {Memories::MemoryKind::listed, std::get<Ints>(memories)};
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
          "limited",
          [](const Instance& instance) { return instance.transfers().has_memory_limits(); })
      .def_property_readonly("data",
                             [](const Instance& instance) -> py::object {
                               if (!instance.transfers().has_data()) return py::none();
                               return frozen(std::vector<double>(instance.transfers().data()));
                             })
      .def_property_readonly(
          "moves_free", [](const Instance& instance) { return instance.transfers().is_free(); })
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

// A solution of a model from a back end in Python.
lp::Solution to_solution(const lp::Model& model, double objective, const Reals& x,
                         const Reals& dual) {
  if (static_cast<int>(x.size()) != model.columns() ||
      static_cast<int>(dual.size()) != model.rows())
    throw InvalidInstance("from_lp: expected a value a column and a price a row");
  lp::Solution solution;
  solution.status = lp::Status::optimal;
  solution.objective = objective;
  solution.x = x;
  solution.dual = dual;
  return solution;
}

// The check of one kind of certificate.
template <class Certificate>
void def_check(py::module_& module, const char* name) {
  using Check = double (*)(const Instance&, const Certificate&);
  def(module, name, static_cast<Check>(&check::certified_bound), "instance"_a, "certificate"_a);
}

void bind_hlp(py::module_& module) {
  def_names<hlp::HlpMethod>(module, "Method",
                            {{"structured", hlp::HlpMethod::structured},
                             {"glpk", hlp::HlpMethod::glpk},
                             {"glpk_primal", hlp::HlpMethod::glpk_primal}});
  def(module, "hlp", &hlp::hlp, "instance"_a, "method"_a);
  def(
      module, "hlp_so_far", [](const Instance& instance) { return hlp::hlp_so_far(instance); },
      "instance"_a);
  module.def("hlp_model", &hlp::hlp_model, "instance"_a);
  module.def(
      "hlp_from_lp",
      [](const Instance& instance, double objective, const Reals& x, const Reals& dual) {
        return hlp::hlp_from_lp(instance,
                                to_solution(hlp::hlp_model(instance), objective, x, dual));
      },
      "instance"_a, "objective"_a, "x"_a, "dual"_a);
  def_check<hlp::HlpCertificate>(module, "certified_bound");
  module.def("round_allocation", crossing(&hlp::round_allocation), "times"_a, "x"_a, "threshold"_a);
  def(module, "area_bound", &hlp::area_bound, "instance"_a);
  def(module, "memory_bound", &hlp::memory_bound, "instance"_a);
  def(module, "critical_path_bound", &hlp::critical_path_bound, "instance"_a);
}

void bind_refutations(py::module_& module) {
  def(
      module, "windows_bound",
      [](const Instance& instance, const hlp::HlpCertificate& relaxation,
         std::optional<double> upper) {
        return proof::windows_bound(instance, relaxation, {upper});
      },
      "instance"_a, "relaxation"_a, "upper"_a);
  def_check<proof::WindowsCertificate>(module, "certified_windows");
  def(
      module, "transfers_bound",
      [](const Instance& instance, const proof::WindowsCertificate& windows,
         std::optional<double> upper) {
        return proof::transfers_bound(instance, windows, {upper});
      },
      "instance"_a, "windows"_a, "upper"_a);
  def_check<proof::TransfersCertificate>(module, "certified_transfers");
  def(module, "transfers_relaxation", &proof::transfers_relaxation, "instance"_a, "method"_a);
  module.def("transfers_model", &proof::transfers_model, "instance"_a);
  module.def(
      "transfers_from_lp",
      [](const Instance& instance, const Reals& x, const Reals& dual) {
        const lp::Solution solution = to_solution(proof::transfers_model(instance), 0, x, dual);
        return proof::transfers_from_lp(instance, solution.x, solution.dual);
      },
      "instance"_a, "x"_a, "dual"_a);
}

void bind_searches(py::module_& module) {
  // `relaxation`: x and certificate of one that is known, None otherwise.
  def(
      module, "hlp_best",
      [](const Instance& instance,
         const std::optional<std::pair<Table, hlp::HlpCertificate>>& columns, std::uint64_t seed,
         std::int64_t evaluations, Seconds time_limit) {
        hlp::HlpSolution relaxation;
        if (columns) std::tie(relaxation.x, relaxation.certificate) = *columns;
        return search::hlp_best(instance, {seed, evaluations, time_limit},
                                columns ? &relaxation : nullptr);
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
  def_names<search::ReplayRule>(
      module, "Kept", {{"units", search::ReplayRule::units}, {"list", search::ReplayRule::list}});
  def(
      module, "replay",
      [](const Instance& instance, const Plan& plan, search::ReplayRule fixed_choices) {
        return search::Replay(instance, plan, fixed_choices).run(instance);
      },
      "instance"_a, "plan"_a, "kept"_a);
  def(
      module, "replay_draws",
      [](const Instance& instance, const Plan& plan, search::ReplayRule fixed_choices,
         const Table& factors, const std::optional<hlp::HlpCertificate>& certificate) {
        search::ReplayDraws draws = search::replay_draws(instance, plan, fixed_choices, factors,
                                                         certificate ? &*certificate : nullptr);
        return std::tuple<Reals, Reals>(std::move(draws.value), std::move(draws.bound));
      },
      "instance"_a, "plan"_a, "kept"_a, "factors"_a, "certificate"_a);
}

}  // namespace

void bind_dags(py::module_& module) {
  bind_instance(module);
  bind_schedulers(module);
  bind_hlp(module);
  bind_refutations(module);
  bind_searches(module);
  bind_replay(module);
}

}  // namespace bindings
}  // namespace cosched::dags
