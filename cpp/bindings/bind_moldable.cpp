#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/graph/destructive.hpp"
#include "cosched/moldable/graph/heads_and_tails.hpp"
#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/graph/project_search.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "cosched/moldable/shared/configurations.hpp"
#include "cosched/moldable/slots/slots_bound.hpp"
#include "cosched/moldable/step/step.hpp"
#include "records.hpp"

namespace cosched::moldable {

using PlacementColumns = std::tuple<bindings::Ints, bindings::Reals, bindings::Reals>;

PlacementColumns in_python(Placement placement) {
  return {std::move(placement.procs), std::move(placement.start), std::move(placement.end)};
}

Placement from_python(PlacementColumns columns, const Placement*) {
  auto& [procs, start, end] = columns;
  return {std::move(procs), std::move(start), std::move(end)};
}

namespace graph {

template <class Visit>
void fields(WorkPathCertificate& certificate, const Visit& visit) {
  visit("weights", certificate.weights);
  visit("task_flow", certificate.task_flow);
  visit("edge_flow", certificate.edge_flow);
}

auto in_python(GuaranteedSchedule schedule) {
  return std::make_tuple(std::move(schedule.placement), schedule.ratio);
}
auto in_python(WorkPath path) {
  return std::make_tuple(path.value, bindings::Reals(std::move(path.durations)),
                         std::move(path.certificate), path.complete, std::move(path.failure));
}
}  // namespace graph

namespace search {
auto in_python(SearchResult search) {
  return std::make_tuple(std::move(search.placement), search.bound, search.has_destructive_bound,
                         bindings::stopped_by(search.is_proved, search.is_complete));
}
auto in_python(ProofResult proof) {
  return std::make_tuple(std::move(proof.placement), proof.bound,
                         bindings::stopped_by(proof.is_proved, proof.is_in_time));
}
// The placement; makespan and minsum of everything that is not dominated; what ended the search.
auto in_python(DemtBestResult search) {
  const auto& points = search.front.points();
  Table front(static_cast<std::ptrdiff_t>(points.size()), 2);
  for (int k = 0; k < static_cast<int>(points.size()); ++k) {
    front(k, 0) = points[k].value.makespan;
    front(k, 1) = points[k].value.minsum;
  }
  return std::make_tuple(points[search.chosen_point].placement, std::move(front),
                         bindings::stopped_by(false, search.is_complete));
}
}  // namespace search

namespace bindings {

using namespace cosched::bindings;  // NOLINT

namespace {

// A placement that Python gave: procs in 1..m, one entry a job, before an accessor to the profiles
// trusts them.
const Placement& checked(const Instance& instance, const Placement& placement) {
  const std::size_t n = instance.jobs();
  if (placement.procs.size() != n || placement.start.size() != n || placement.end.size() != n)
    throw InvalidInstance("procs, start and end need an entry for each of " + std::to_string(n) +
                          " jobs");
  for (std::size_t i = 0; i < n; ++i)
    if (placement.procs[i] < 1 || placement.procs[i] > instance.machines())
      throw InvalidInstance("procs[" + std::to_string(i) +
                            "] = " + std::to_string(placement.procs[i]) + ": expected 1.." +
                            std::to_string(instance.machines()));
  return placement;
}

// Of all jobs on 1..useful_machines().
py::array times_of(const py::object& self) {
  const auto& instance = self.cast<const Instance&>();
  if (instance.table() != nullptr) return table_view(instance.table()->table(), self);
  Table table(instance.jobs(), instance.useful_machines());
  for (int i = 0; i < instance.jobs(); ++i)
    for (int q = 1; q <= instance.useful_machines(); ++q)
      table(i, q - 1) = instance.exact_time(i, q);
  return frozen(std::move(table));
}

Instance from_downey(const Reals& alone, const Reals& parallelism, const Reals& variance,
                     const Reals& weights, const Reals& release, int machines) {
  std::vector<Downey> profiles;
  for (std::size_t i = 0; i < alone.size(); ++i)
    profiles.push_back({alone[i], parallelism[i], variance[i]});
  return Instance(std::move(profiles), weights, release, machines);
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const Table& times, const Reals& weights, const Reals& release,
                       std::optional<int> machines) {
             return Instance(Times(times), weights, release, machines);
           }),
           "times"_a, "weights"_a, "release"_a, "machines"_a)
      .def_static("from_downey", &from_downey, "alone"_a, "parallelism"_a, "variance"_a,
                  "weights"_a, "release"_a, "machines"_a)
      .def(
          "with_sharing",
          [](const Instance& instance, std::shared_ptr<const Sharing> sharing) {
            return instance.with_sharing(std::move(sharing));
          },
          "sharing"_a)
      .def(
          "after",
          [](const Instance& instance, const IntArray& edges) {
            return instance.with_precedence(
                std::make_shared<const TaskGraph>(instance.jobs(), to_edges(edges)));
          },
          "edges"_a)
      .def("alone", &Instance::as_independent_jobs)
      .def_property_readonly("times", &times_of)
      .def_property_readonly("weights",
                             [](const Instance& instance) -> Reals { return instance.weights(); })
      .def_property_readonly("release",
                             [](const Instance& instance) -> Reals { return instance.releases(); })
      .def_property_readonly("jobs", &Instance::jobs)
      .def_property_readonly("machines", &Instance::machines)
      .def_property_readonly("has_releases", &Instance::has_releases)
      .def_property_readonly("monotone_work", &Instance::has_monotone_work)
      .def(
          "time",
          [](const Instance& instance, int job, int procs) {
            if (job < 0 || job >= instance.jobs() || procs < 1 || procs > instance.machines())
              throw InvalidInstance("time(" + std::to_string(job) + ", " + std::to_string(procs) +
                                    "): expected a job in 0.." +
                                    std::to_string(instance.jobs() - 1) + " on 1.." +
                                    std::to_string(instance.machines()) + " processors");
            return instance.exact_time(job, procs);
          },
          "job"_a, "procs"_a)
      .def(
          "select",
          [](const Instance& instance, const Ints& jobs) { return instance.select(jobs); },
          "jobs"_a)
      .def("validate", validator<Instance>(&check::validate));
}

void bind_schedule(py::module_& module) {
  module.def(
      "schedule",
      [](const Instance& instance, const Placement& placement) {
        // What a search found before its limit is kept: its processors are numbered after the
        // limit.
        const ScopedDeadlineExtension grace(kMaxLateness / 2);
        return released([&] { return to_schedule(instance, checked(instance, placement)); });
      },
      "instance"_a, "placement"_a);
  module.def(
      "makespan_if_constant",
      [](const Instance& instance, const Placement& placement) {
        return list::makespan_if_constant(instance, checked(instance, placement));
      },
      "instance"_a, "placement"_a);
  def(
      module, "replay",
      [](const Instance& instance, const Placement& placement) {
        if (instance.sharing() == nullptr)
          throw InvalidInstance("expected an instance whose jobs share something");
        return list::replay(instance, checked(instance, placement));
      },
      "instance"_a, "placement"_a);
}

void bind_algorithms(py::module_& module) {
  using dual::ListOrder, batches::LocalOrder, batches::DemtOptions;
  using Compaction = DemtOptions::Compaction;
  def_names<ListOrder>(
      module, "ListOrder",
      {{"shelf", ListOrder::shelf}, {"lptf", ListOrder::lptf}, {"saf", ListOrder::saf}});
  def_names<LocalOrder>(module, "LocalOrder",
                        {{"smith", LocalOrder::smith},
                         {"density", LocalOrder::density},
                         {"weight", LocalOrder::weight},
                         {"area", LocalOrder::area}});
  def_names<Compaction>(module, "Compaction",
                        {{"none", Compaction::none},
                         {"early", Compaction::early},
                         {"list", Compaction::list},
                         {"shuffle", Compaction::shuffle}});
  def(module, "gang", &list::gang, "instance"_a);
  def(module, "sequential", &list::sequential, "instance"_a);
  using Graham = Placement (*)(const Instance&, ListOrder, double);
  def(module, "list_graham", static_cast<Graham>(&dual::list_graham), "instance"_a, "order"_a,
      "tolerance"_a);
  def(
      module, "dual_approximation",
      [](const Instance& instance, double tolerance) {
        const dual::DualApproximation approximation = dual::dual_approximation(instance, tolerance);
        return std::make_tuple(approximation.schedule.placement, approximation.bound,
                               dual::guarantee(instance));
      },
      "instance"_a, "tolerance"_a);
  def(
      module, "demt",
      [](const Instance& instance, Compaction compaction, LocalOrder local_order, int shuffles,
         Seconds horizon, std::uint64_t seed) {
        return batches::demt(instance, {compaction, local_order, shuffles, seed, horizon});
      },
      "instance"_a, "compaction"_a, "local_order"_a, "shuffles"_a, "horizon"_a, "seed"_a);
  def(module, "list_lp", &graph::list_lp, "instance"_a);
  def(module, "list_local", &graph::list_local, "instance"_a, "mu"_a);
  // Holds the GIL: `solve` is a Python function that may call back into this module.
  module.def(
      "by_batches",
      [](const Instance& instance, const py::function& solve) {
        return batches::schedule_by_batches(instance, [&](const std::vector<int>& jobs) {
          return solve(Ints(jobs)).cast<Placement>();
        });
      },
      "instance"_a, "solve"_a);
}

void bind_searches(py::module_& module) {
  def_names<Objective>(module, "Objective",
                       {{"makespan", Objective::makespan}, {"minsum", Objective::minsum}});
  module.attr("BEST_WORK") = search::kDemtBestWork;
  module.attr("SEARCH_WORK") = search::kSearchWork;
  module.attr("OPTIMAL_WORK") = search::kProofWork;
  module.attr("EXACT_JOBS") = search::kExactJobs;
  def(
      module, "demt_best",
      [](const Instance& instance, std::uint64_t seed, std::int64_t work, Seconds time_limit) {
        return search::demt_best(instance, {seed, work, time_limit});
      },
      "instance"_a, "seed"_a, "work"_a, "time_limit"_a);
  def(
      module, "local_search",
      [](const Instance& instance, Objective objective, std::uint64_t seed, std::int64_t work,
         Seconds time_limit, const std::vector<Placement>& starts) {
        for (const Placement& start : starts) checked(instance, start);
        return search::local_search(instance, {objective, seed, work, time_limit, starts});
      },
      "instance"_a, "objective"_a, "seed"_a, "work"_a, "time_limit"_a, "starts"_a);
  def(
      module, "optimal",
      [](const Instance& instance, Objective objective, std::int64_t work, Seconds time_limit) {
        return search::optimal(instance, {objective, work, time_limit});
      },
      "instance"_a, "objective"_a, "work"_a, "time_limit"_a);
}

// A bound that a time limit may end: its value, and whether none did.
void def_limited(py::module_& module, const char* name,
                 bounds::BoundResult (*bound)(const Instance&)) {
  def(
      module, name,
      [bound](const Instance& instance, Seconds time_limit) {
        const ScopedTimeLimit limit(time_limit);
        const auto [value, complete] = bound(instance);
        return std::make_tuple(value, complete);
      },
      "instance"_a, "time_limit"_a);
}

void bind_bounds(py::module_& module) {
  def(module, "area_bound", &bounds::area_bound, "instance"_a);
  def(module, "longest_bound", &bounds::longest_bound, "instance"_a);
  def(module, "dual_approximation_bound", &dual::dual_approximation_bound, "instance"_a,
      "tolerance"_a);
  def_limited(module, "configuration_bound", &shared::configuration_bound);
  def_limited(module, "time_indexed_bound", &slots::time_indexed_bound);
  def_limited(module, "slots_bound", &slots::slots_bound);
  def(
      module, "minsum_bound",
      [](const Instance& instance, std::optional<Reals> grid, int refine, bool tight,
         bool by_glpk) {
        const auto bound = by_glpk ? minsum::bound_by_glpk : minsum::bound;
        return bound(instance, {std::move(grid), refine, tight});
      },
      "instance"_a, "grid"_a, "refine"_a, "tight"_a, "by_glpk"_a);
  def(module, "default_grid", &minsum::make_default_grid, "instance"_a);
  def(module, "work_and_path", &graph::work_and_path, "instance"_a);
  def(module, "heads_and_tails", &graph::heads_and_tails, "instance"_a, "low"_a);
  def(
      module, "destructive_bound",
      [](const Instance& instance, double low, double high, std::int64_t work,
         std::optional<double> time_limit) {
        const auto bound = graph::destructive_bound(instance, low, high, work, time_limit);
        return std::pair(bound.value, bound.complete);
      },
      "instance"_a, "low"_a, "high"_a, "work"_a, "time_limit"_a);
  def(module, "suits_project_search", &graph::ProjectSearch::is_suitable, "instance"_a);
  def(
      module, "project_bound",
      [](const Instance& instance, double low, std::int64_t work) {
        const auto search = graph::ProjectSearch::make(instance, low, kInfinity);
        if (search == nullptr) return low;
        search->improve(work);
        return search->bound();
      },
      "instance"_a, "low"_a, "work"_a);
  module.def("work_path_certified_bound", &check::certified_bound, "instance"_a, "certificate"_a);
}

void bind_step(py::module_& module) {
  module.def(
      "check_step",
      [](const Reals& free_in, double budget, double ratio) {
        step::check_arguments(free_in, budget, {ratio});
      },
      "free_in"_a, "budget"_a, "ratio"_a);
  def(
      module, "step",
      [](const Instance& instance, const Reals& free_in, double budget, double ratio) {
        const auto schedule_step = step::step(instance, free_in, budget, {ratio});
        return std::make_tuple(Ints(step::assign_processors(schedule_step.plan, free_in)),
                               schedule_step.makespan, schedule_step.bound,
                               schedule_step.state.ratio);
      },
      "instance"_a, "free_in"_a, "budget"_a, "ratio"_a);
}

}  // namespace

void bind_moldable(py::module_& module) {
  bind_instance(module);
  bind_schedule(module);
  bind_algorithms(module);
  bind_searches(module);
  bind_bounds(module);
  bind_step(module);
}

}  // namespace bindings
}  // namespace cosched::moldable
