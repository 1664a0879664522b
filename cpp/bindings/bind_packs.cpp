#include <numeric>

#include "cosched/packs/check/validate.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/coschedule.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/shared/pack_price.hpp"
#include "cosched/packs/solve/solve.hpp"
#include "pybind.hpp"

namespace cosched::packs::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

using Seconds = std::optional<double>;
using Packed = std::tuple<Ints, Ints>;                       // pack_of, procs
using Ended = std::tuple<Ints, Ints, const char*>;           // and what ended the search
using Proved = std::tuple<Ints, Ints, double, const char*>;  // and the bound before it

Packed packed(Coschedule found) { return {std::move(found.pack_of), std::move(found.procs)}; }

Proved proved(ExactResult found) {
  return {std::move(found.coschedule.pack_of), std::move(found.coschedule.procs), found.bound,
          stopped_by(found.proved, found.complete)};
}

// Of a pack of tasks that share something, those that end it first; none where it does not fit.
Ints best_counts(const Instance& instance, const Ints& tasks) {
  return shared::PackPricer(instance).exact(tasks).procs;
}

template <class Solver>
auto whole_table(Solver solver) {
  return [solver](const Table& times, int procs) -> Ints {
    std::vector<int> all(times.rows());
    std::iota(all.begin(), all.end(), 0);
    return solver(Times(times), all, procs);
  };
}

Coschedule to_coschedule(const Instance& instance, const Ints& pack_of, const Ints& procs) {
  return {pack_of, procs, cost(instance, pack_of, procs)};  // refuses what does not fit
}

// What is shared; nothing where nothing was given.
Sharing sharing_of(const Instance& instance) {
  if (instance.sharing() != nullptr) return *instance.sharing();
  return Sharing(instance.tasks(), {}, std::nullopt, std::nullopt);
}

// A measure of (pack_of, procs).
template <class Measure>
auto measured(Measure measure) {
  return [measure](const Instance& instance, const Ints& pack_of, const Ints& procs) {
    return measure(instance, to_coschedule(instance, pack_of, procs));
  };
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const Table& times, std::int64_t max_tasks) {
             return Instance(Times(times), static_cast<int>(max_tasks));
           }),
           py::arg("times"), py::arg("max_tasks"))
      .def(
          "with_sharing",
          [](const Instance& instance, std::shared_ptr<const Sharing> sharing) {
            return Instance(instance.times(), instance.max_tasks(), std::move(sharing));
          },
          py::arg("sharing"))
      .def_property_readonly("times",
                             [](const py::object& self) {
                               const auto& instance = self.cast<const Instance&>();
                               return table_view(instance.times().table(), self);
                             })
      .def_property_readonly("tasks", &Instance::tasks)
      .def_property_readonly("procs", &Instance::procs)
      .def_property_readonly("max_tasks", &Instance::max_tasks)
      .def(
          "validate",
          [](const Instance& instance, const IntArray& task, const IntArray& kind,
             const IntArray& unit_begin, const IntArray& unit, const RealArray& start,
             const RealArray& end) {
            const Schedule schedule =
                bindings::to_schedule(task, kind, unit_begin, unit, start, end);
            released([&] { check::validate(instance, schedule); });
          },
          py::arg("task"), py::arg("kind"), py::arg("unit_begin"), py::arg("unit"),
          py::arg("start"), py::arg("end"));
  def(
      module, "monotone", [](const Table& times) { return monotone(times); }, py::arg("times"));
}

void bind_schedule(py::module_& module) {
  const auto bind = [&module](const char* name, auto function, const char* first = "pack_of") {
    def(module, name, function, py::arg("instance"), py::arg(first), py::arg("procs"));
  };
  bind("schedule", measured([](const Instance& instance, const Coschedule& coschedule) {
         return packs::to_schedule(instance, coschedule);
       }));
  bind("cost", measured([](const Instance&, const Coschedule& given) { return given.cost; }));
  bind("cost_if_constant", [](const Instance& instance, const Ints& pack_of, const Ints& procs) {
    return cost_if_constant(instance, pack_of, procs);
  });
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

void bind_heuristics(py::module_& module) {
  py::enum_<heuristic::PackChoice>(module, "PackChoice")
      .value("greedy", heuristic::PackChoice::kGreedy)
      .value("idle", heuristic::PackChoice::kIdle)
      .value("cuts", heuristic::PackChoice::kCuts);
  def(
      module, "make_pack",
      [](const Instance& instance, const Ints& procs, bool reoptimise) {
        return packed(heuristic::make_pack(instance, procs, reoptimise));
      },
      py::arg("instance"), py::arg("procs"), py::arg("reoptimise"));
  def(
      module, "sequential",
      [](const Instance& instance) { return packed(heuristic::sequential(instance)); },
      py::arg("instance"));
  def(
      module, "pack_approx",
      [](const Instance& instance, bool reoptimise) {
        return packed(heuristic::pack_approx(instance, reoptimise));
      },
      py::arg("instance"), py::arg("reoptimise"));
  def(
      module, "random_pack",
      [](const Instance& instance, int draws, std::uint64_t seed) {
        return packed(solve::random_pack(instance, draws, seed));
      },
      py::arg("instance"), py::arg("draws"), py::arg("seed"));
  def(
      module, "random_proc",
      [](const Instance& instance, int draws, std::uint64_t seed) {
        return packed(solve::random_proc(instance, draws, seed));
      },
      py::arg("instance"), py::arg("draws"), py::arg("seed"));
  def(
      module, "pack_by_pack",
      [](const Instance& instance, const Reals& epsilons, heuristic::PackChoice choice) {
        return packed(solve::pack_by_pack(instance, epsilons, choice));
      },
      py::arg("instance"), py::arg("epsilons"), py::arg("choice"));
  module.attr("LOCAL_SEARCH_WORK") = search::kLocalSearchWork;
  def(
      module, "local_search",
      [](const Instance& instance, std::uint64_t seed, std::int64_t work, Seconds limit) -> Ended {
        SearchResult found = solve::local_search(instance, seed, work, limit);
        return {std::move(found.coschedule.pack_of), std::move(found.coschedule.procs),
                stopped_by(found.proved, found.complete)};
      },
      py::arg("instance"), py::arg("seed"), py::arg("work"), py::arg("time_limit"));
}

void bind_exact(py::module_& module) {
  def(module, "best_counts", &best_counts, py::arg("instance"), py::arg("tasks"));
  def(module, "one_pack", whole_table(&heuristic::one_pack), py::arg("times"), py::arg("procs"));
  def(module, "one_pack_dynamic_programme", whole_table(&heuristic::one_pack_dynamic_programme),
      py::arg("times"), py::arg("procs"));
  def(
      module, "pairs", [](const Instance& instance) { return packed(solve::pairs(instance)); },
      py::arg("instance"));
  def(
      module, "optimal",
      [](const Instance& instance, Seconds limit) {
        return proved(solve::optimal(instance, limit));
      },
      py::arg("instance"), py::arg("time_limit"));
  def(
      module, "ilp",
      [](const Instance& instance, Seconds limit) { return proved(exact::ilp(instance, limit)); },
      py::arg("instance"), py::arg("time_limit"));
  def(
      module, "area_bound", [](const Instance& instance) { return area_bound(instance.alone()); },
      py::arg("instance"));
  def(
      module, "longest_bound",
      [](const Instance& instance) { return longest_bound(instance.alone()); },
      py::arg("instance"));
  def(
      module, "column_bound",
      [](const Instance& instance, Seconds limit) {
        const columns::LowerBound bound = solve::column_bound(instance, limit);
        return std::make_tuple(bound.value, bound.complete);
      },
      py::arg("instance"), py::arg("time_limit"));
}

}  // namespace

void bind_packs(py::module_& module) {
  bind_instance(module);
  bind_schedule(module);
  bind_heuristics(module);
  bind_exact(module);
}

}  // namespace cosched::packs::bindings
