#include <numeric>

#include "cosched/packs/check/validate.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/heuristic/pack_choice.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/coschedule.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/optimal.hpp"
#include "pybind.hpp"

namespace cosched::packs::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

using Seconds = std::optional<double>;

py::tuple pack_tuple(const Coschedule& found) {
  return py::make_tuple(int_array(found.pack_of), int_array(found.procs));
}

py::tuple exact_tuple(const ExactResult& found) {
  return py::make_tuple(int_array(found.coschedule.pack_of), int_array(found.coschedule.procs),
                        found.bound, stopped_by(found.proved, found.complete));
}

// Where tasks share something, the algorithms of room `shared`.
Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  return instance.sharing() != nullptr ? shared::random_pack(instance, draws, seed)
                                       : heuristic::random_pack(instance, draws, seed);
}

Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  return instance.sharing() != nullptr ? shared::random_proc(instance, draws, seed)
                                       : heuristic::random_proc(instance, draws, seed);
}

Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice) {
  return instance.sharing() != nullptr ? shared::pack_by_pack(instance, epsilons, choice)
                                       : heuristic::pack_by_pack(instance, epsilons, choice);
}

SearchResult local_search(const Instance& instance, std::uint64_t seed, std::int64_t work,
                          Seconds limit) {
  return instance.sharing() != nullptr ? shared::local_search(instance, seed, work, limit)
                                       : search::local_search(instance, seed, work, limit);
}

Coschedule pairs(const Instance& instance) {
  return instance.sharing() != nullptr ? shared::pairs(instance) : exact::pairs(instance);
}

ExactResult optimal(const Instance& instance, Seconds limit) {
  return instance.sharing() != nullptr ? shared::optimal(instance, limit)
                                       : exact::optimal(instance, limit);
}

columns::LowerBound column_bound(const Instance& instance, Seconds limit) {
  return instance.sharing() != nullptr ? shared::bound(instance, limit)
                                       : columns::column_bound(instance, limit);
}

// Of a pack of tasks that share something, those that end it first; none where it does not fit.
std::vector<int> best_counts(const Instance& instance, const std::vector<int>& tasks) {
  return shared::PackPricer(instance).exact(tasks).procs;
}

template <class Solver>
auto whole_table(Solver solver) {
  return [solver](const RealArray& times, int procs) {
    const Times table(to_table(times));
    std::vector<int> all(table.tasks());
    std::iota(all.begin(), all.end(), 0);
    return int_array(released([&] { return solver(table, all, procs); }));
  };
}

Coschedule to_coschedule(const Instance& instance, const IntArray& pack_of, const IntArray& procs) {
  Coschedule given{to_ints(pack_of, "pack_of"), to_ints(procs, "procs"), 0};
  given.cost = cost(instance, given.pack_of, given.procs);  // refuses what does not fit
  return given;
}

// What is shared; nothing where nothing was given.
Sharing sharing_of(const Instance& instance) {
  if (instance.sharing() != nullptr) return *instance.sharing();
  return Sharing(instance.tasks(), {}, std::nullopt, std::nullopt);
}

// A measure of (pack_of, procs).
template <class Measure>
auto measured(Measure measure) {
  return [measure](const Instance& instance, const IntArray& pack_of, const IntArray& procs) {
    return measure(instance, to_coschedule(instance, pack_of, procs));
  };
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const RealArray& times, std::int64_t max_tasks) {
             return Instance(Times(to_table(times)), static_cast<int>(max_tasks));
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
  module.def(
      "monotone",
      [](const RealArray& times) {
        const Table table = to_table(times);
        return table_array(released([&] { return monotone(table); }));
      },
      py::arg("times"));
}

void bind_schedule(py::module_& module) {
  module.def(
      "schedule",
      [](const Instance& instance, const IntArray& pack_of, const IntArray& procs) {
        return schedule_columns(
            packs::to_schedule(instance, to_coschedule(instance, pack_of, procs)));
      },
      py::arg("instance"), py::arg("pack_of"), py::arg("procs"));
  module.def(
      "cost",
      [](const Instance& instance, const IntArray& pack_of, const IntArray& procs) {
        return to_coschedule(instance, pack_of, procs).cost;
      },
      py::arg("instance"), py::arg("pack_of"), py::arg("procs"));
  module.def(
      "cost_if_constant",
      [](const Instance& instance, const IntArray& pack_of, const IntArray& procs) {
        return cost_if_constant(instance, to_ints(pack_of, "pack_of"), to_ints(procs, "procs"));
      },
      py::arg("instance"), py::arg("pack_of"), py::arg("procs"));
  module.def(
      "ends",
      [](const Instance& instance, const IntArray& tasks, const IntArray& procs) {
        const std::vector<Run> pack =
            as_pack(instance, to_ints(tasks, "tasks"), to_ints(procs, "procs"));
        return real_array(sharing_of(instance).ends(pack));
      },
      py::arg("instance"), py::arg("tasks"), py::arg("procs"));
  module.def(
      "slowdown",
      [](const Instance& instance, const IntArray& tasks, const IntArray& procs) {
        const std::vector<Run> pack =
            as_pack(instance, to_ints(tasks, "tasks"), to_ints(procs, "procs"));
        return real_array(sharing_of(instance).factors(pack));
      },
      py::arg("instance"), py::arg("tasks"), py::arg("procs"));
  module.def("packing_ratio", measured(&packing_ratio), py::arg("instance"), py::arg("pack_of"),
             py::arg("procs"));
  module.def("relative_cost", measured(&relative_cost), py::arg("instance"), py::arg("pack_of"),
             py::arg("procs"));
  module.def("relative_response_time", measured(&relative_response_time), py::arg("instance"),
             py::arg("pack_of"), py::arg("procs"));
}

void bind_heuristics(py::module_& module) {
  py::enum_<heuristic::PackChoice>(module, "PackChoice")
      .value("greedy", heuristic::PackChoice::kGreedy)
      .value("idle", heuristic::PackChoice::kIdle)
      .value("cuts", heuristic::PackChoice::kCuts);
  module.def(
      "make_pack",
      [](const Instance& instance, const IntArray& procs, bool reoptimise) {
        const auto counts = to_ints(procs, "procs");
        return pack_tuple(
            released([&] { return heuristic::make_pack(instance, counts, reoptimise); }));
      },
      py::arg("instance"), py::arg("procs"), py::arg("reoptimise"));
  module.def(
      "sequential",
      [](const Instance& instance) { return pack_tuple(heuristic::sequential(instance)); },
      py::arg("instance"));
  module.def(
      "pack_approx",
      [](const Instance& instance, bool reoptimise) {
        return pack_tuple(released([&] { return heuristic::pack_approx(instance, reoptimise); }));
      },
      py::arg("instance"), py::arg("reoptimise"));
  module.def(
      "random_pack",
      [](const Instance& instance, int draws, std::uint64_t seed) {
        return pack_tuple(released([&] { return random_pack(instance, draws, seed); }));
      },
      py::arg("instance"), py::arg("draws"), py::arg("seed"));
  module.def(
      "random_proc",
      [](const Instance& instance, int draws, std::uint64_t seed) {
        return pack_tuple(released([&] { return random_proc(instance, draws, seed); }));
      },
      py::arg("instance"), py::arg("draws"), py::arg("seed"));
  module.def(
      "pack_by_pack",
      [](const Instance& instance, const RealArray& epsilons, heuristic::PackChoice choice) {
        const auto values = to_reals(epsilons);
        return pack_tuple(
            released([&] { return bindings::pack_by_pack(instance, values, choice); }));
      },
      py::arg("instance"), py::arg("epsilons"), py::arg("choice"));
  module.attr("LOCAL_SEARCH_WORK") = search::kLocalSearchWork;
  module.def(
      "local_search",
      [](const Instance& instance, std::uint64_t seed, std::int64_t work, Seconds time_limit) {
        const SearchResult found =
            released([&] { return local_search(instance, seed, work, time_limit); });
        return py::make_tuple(int_array(found.coschedule.pack_of),
                              int_array(found.coschedule.procs),
                              stopped_by(found.proved, found.complete));
      },
      py::arg("instance"), py::arg("seed"), py::arg("work"), py::arg("time_limit"));
}

void bind_exact(py::module_& module) {
  module.def(
      "best_counts",
      [](const Instance& instance, const IntArray& tasks) {
        const std::vector<int> pack = to_ints(tasks, "tasks");
        const std::vector<int> procs = released([&] { return best_counts(instance, pack); });
        return int_array(procs);
      },
      py::arg("instance"), py::arg("tasks"));
  module.def("one_pack", whole_table(&heuristic::one_pack), py::arg("times"), py::arg("procs"));
  module.def("one_pack_dynamic_programme", whole_table(&heuristic::one_pack_dynamic_programme),
             py::arg("times"), py::arg("procs"));
  module.def(
      "pairs",
      [](const Instance& instance) {
        return pack_tuple(released([&] { return pairs(instance); }));
      },
      py::arg("instance"));
  module.def(
      "optimal",
      [](const Instance& instance, Seconds time_limit) {
        return exact_tuple(released([&] { return optimal(instance, time_limit); }));
      },
      py::arg("instance"), py::arg("time_limit"));
  module.def(
      "ilp",
      [](const Instance& instance, Seconds time_limit) {
        return exact_tuple(released([&] { return exact::ilp(instance, time_limit); }));
      },
      py::arg("instance"), py::arg("time_limit"));
  module.def(
      "area_bound", [](const Instance& instance) { return area_bound(instance.alone()); },
      py::arg("instance"));
  module.def(
      "longest_bound", [](const Instance& instance) { return longest_bound(instance.alone()); },
      py::arg("instance"));
  module.def(
      "column_bound",
      [](const Instance& instance, Seconds time_limit) {
        const columns::LowerBound bound =
            released([&] { return column_bound(instance, time_limit); });
        return py::make_tuple(bound.value, bound.complete);
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
