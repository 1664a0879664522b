#include "cosched/packs/check/validate.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/measures.hpp"
#include "cosched/packs/solve/solve.hpp"
#include "pybind.hpp"

namespace cosched::packs {

std::tuple<bindings::Ints, bindings::Ints> in_python(Coschedule coschedule) {
  return {std::move(coschedule.pack_of), std::move(coschedule.procs)};
}

// And what ended the search.
std::tuple<bindings::Ints, bindings::Ints, const char*> in_python(SearchedCoschedule search) {
  return {std::move(search.coschedule.pack_of), std::move(search.coschedule.procs),
          bindings::stopped_by(search.is_proved, search.is_complete)};
}

// And the bound before it.
std::tuple<bindings::Ints, bindings::Ints, double, const char*> in_python(ExactResult search) {
  return {std::move(search.coschedule.pack_of), std::move(search.coschedule.procs), search.bound,
          bindings::stopped_by(search.is_proved, search.is_complete)};
}

namespace columns {
std::tuple<double, bool> in_python(LowerBound bound) { return {bound.value, bound.is_complete}; }
}  // namespace columns

namespace bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

template <class Solver>
auto whole_table(Solver solver) {
  return [solver](const Table& times, int procs) -> Ints {
    std::vector<int> all(times.rows());
    std::iota(all.begin(), all.end(), 0);
    return solver(Times(times), all, procs);
  };
}

// What the tasks share; null for None.
Sharing sharing_of(const Instance& instance) {
  if (instance.sharing() != nullptr) return *instance.sharing();
  return Sharing(instance.tasks(), {}, std::nullopt, std::nullopt);
}

// A measure of (pack_of, procs); refuses what does not fit.
template <class Measure>
auto measured(Measure measure) {
  return [measure](const Instance& instance, const Ints& pack_of, const Ints& procs) {
    return measure(instance, Coschedule{pack_of, procs, cost(instance, pack_of, procs)});
  };
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const Table& times, std::int64_t max_tasks) {
             return Instance(Times(times), static_cast<int>(max_tasks));
           }),
           "times"_a, "max_tasks"_a)
      .def(
          "with_sharing",
          [](const Instance& instance, std::shared_ptr<const Sharing> sharing) {
            return Instance(instance.times(), instance.max_tasks(), std::move(sharing));
          },
          "sharing"_a)
      .def_property_readonly("times",
                             [](const py::object& self) {
                               const auto& instance = self.cast<const Instance&>();
                               return table_view(instance.times().table(), self);
                             })
      .def_property_readonly("tasks", &Instance::tasks)
      .def_property_readonly("procs", &Instance::procs)
      .def_property_readonly("max_tasks", &Instance::max_tasks)
      .def("validate", validator<Instance>(&check::validate));
  def(
      module, "monotone", [](const Table& times) { return monotone(times); }, "times"_a);
}

void bind_schedule(py::module_& module) {
  const auto bind = [&module](const char* name, auto function, const char* first = "pack_of") {
    def(module, name, function, "instance"_a, py::arg(first), "procs"_a);
  };
  bind("schedule", measured([](const Instance& instance, const Coschedule& coschedule) {
         return to_schedule(instance, coschedule);
       }));
  bind("cost", &cost);
  bind("cost_if_constant", &cost_if_constant);
  bind(
      "ends",
      [](const Instance& instance, const Ints& tasks, const Ints& procs) -> Reals {
        return sharing_of(instance).ends(as_pack(instance, tasks, procs));
      },
      "tasks");
  bind(
      "slowdown",
      [](const Instance& instance, const Ints& tasks, const Ints& procs) -> Reals {
        return sharing_of(instance).factors(as_pack(instance, tasks, procs));
      },
      "tasks");
  bind("packing_ratio", measured(&packing_ratio));
  bind("relative_cost", measured(&relative_cost));
  bind("relative_response_time", measured(&relative_response_time));
}

void bind_algorithms(py::module_& module) {
  using heuristic::PackChoice;
  def_names<PackChoice>(
      module, "PackChoice",
      {{"greedy", PackChoice::kGreedy}, {"idle", PackChoice::kIdle}, {"cuts", PackChoice::kCuts}});
  module.attr("LOCAL_SEARCH_WORK") = search::kLocalSearchWork;
  def(module, "default_work", &search::default_work, "tasks"_a);
  def(module, "make_pack", &heuristic::make_pack, "instance"_a, "procs"_a, "reoptimise"_a);
  def(module, "sequential", &heuristic::sequential, "instance"_a);
  def(module, "pack_approx", &heuristic::pack_approx, "instance"_a, "reoptimise"_a);
  def(module, "random_pack", &solve::random_pack, "instance"_a, "draws"_a, "seed"_a);
  def(module, "random_proc", &solve::random_proc, "instance"_a, "draws"_a, "seed"_a);
  def(module, "pack_by_pack", &solve::pack_by_pack, "instance"_a, "epsilons"_a, "choice"_a);
  def(module, "local_search", &solve::local_search, "instance"_a, "seed"_a, "work"_a,
      "time_limit"_a);
  // Of a pack of tasks that share something, those that end it first; none where it does not fit.
  def(
      module, "best_counts",
      [](const Instance& instance, const Ints& tasks) -> Ints {
        return shared::PackPricer(instance).exact_price(tasks).procs;
      },
      "instance"_a, "tasks"_a);
  def(module, "one_pack", whole_table(&heuristic::one_pack), "times"_a, "procs"_a);
  def(module, "one_pack_dynamic_programme", whole_table(&heuristic::one_pack_dynamic_programme),
      "times"_a, "procs"_a);
  def(module, "pairs", &solve::pairs, "instance"_a);
  def(module, "optimal", &solve::optimal, "instance"_a, "time_limit"_a);
  def(module, "ilp", &exact::ilp, "instance"_a, "time_limit"_a);
}

void bind_bounds(py::module_& module) {
  using Bound = double (*)(const Instance&);
  const auto alone = [](Bound bound) {
    return [bound](const Instance& instance) { return bound(instance.without_sharing()); };
  };
  def(module, "area_bound", alone(&area_bound), "instance"_a);
  def(module, "longest_bound", alone(&longest_bound), "instance"_a);
  def(module, "column_bound", &solve::column_bound, "instance"_a, "time_limit"_a);
}

}  // namespace

void bind_packs(py::module_& module) {
  bind_instance(module);
  bind_schedule(module);
  bind_algorithms(module);
  bind_bounds(module);
}

}  // namespace bindings
}  // namespace cosched::packs
