#include "certificates.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/baselines.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "cosched/moldable/minsum/model.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/search/best.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "cosched/moldable/search/search_state.hpp"
#include "cosched/moldable/shared/configurations.hpp"
#include "cosched/moldable/slots/slots_bound.hpp"
#include "cosched/moldable/slots/time_indexed.hpp"
#include "moldable_placements.hpp"

namespace cosched::moldable::bindings {

namespace {

std::vector<Downey> to_profiles(const RealArray& alone, const RealArray& parallelism,
                                const RealArray& variance) {
  std::vector<Downey> profiles;
  for (py::ssize_t i = 0; i < alone.size(); ++i)
    profiles.push_back({alone.data()[i], parallelism.data()[i], variance.data()[i]});
  return profiles;
}

// Times of all jobs on 1..useful_machines().
Table table_of(const Instance& instance) {
  Table table(instance.jobs(), instance.useful_machines());
  for (int i = 0; i < instance.jobs(); ++i)
    for (int q = 1; q <= instance.useful_machines(); ++q) table(i, q - 1) = instance.given(i, q);
  return table;
}

py::array times_of(const py::object& self) {
  const auto& instance = self.cast<const Instance&>();
  if (instance.table() != nullptr) return table_view(instance.table()->table(), self);
  py::array made = table_array(table_of(instance));
  made.attr("flags").attr("writeable") = false;
  return made;
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const RealArray& times, const RealArray& weights, const RealArray& release,
                       std::optional<int> machines) {
             return Instance(Times(to_table(times)), to_reals(weights), to_reals(release),
                             machines);
           }),
           py::arg("times"), py::arg("weights"), py::arg("release"), py::arg("machines"))
      .def_static(
          "from_downey",
          [](const RealArray& alone, const RealArray& parallelism, const RealArray& variance,
             const RealArray& weights, const RealArray& release, int machines) {
            return Instance(to_profiles(alone, parallelism, variance), to_reals(weights),
                            to_reals(release), machines);
          },
          py::arg("alone"), py::arg("parallelism"), py::arg("variance"), py::arg("weights"),
          py::arg("release"), py::arg("machines"))
      .def(
          "with_sharing",
          [](const Instance& instance, std::shared_ptr<const Sharing> sharing) {
            return instance.with(std::move(sharing));
          },
          py::arg("sharing"))
      .def(
          "after",
          [](const Instance& instance, const IntArray& edges) {
            return instance.after(
                std::make_shared<const TaskGraph>(instance.jobs(), to_edges(edges)));
          },
          py::arg("edges"))
      .def("alone", &Instance::alone)
      .def_property_readonly("times", &times_of)
      .def_property_readonly(
          "weights", [](const Instance& instance) { return real_array(instance.weights()); })
      .def_property_readonly(
          "release", [](const Instance& instance) { return real_array(instance.releases()); })
      .def_property_readonly("jobs", &Instance::jobs)
      .def_property_readonly("machines", &Instance::machines)
      .def_property_readonly("has_releases", &Instance::has_releases)
      .def_property_readonly("monotone_work", &Instance::monotone_work)
      .def(
          "time",
          [](const Instance& instance, int job, int procs) {
            if (job < 0 || job >= instance.jobs() || procs < 1 || procs > instance.machines())
              throw InvalidInstance("time(" + std::to_string(job) + ", " + std::to_string(procs) +
                                    "): expected a job in 0.." +
                                    std::to_string(instance.jobs() - 1) + " on 1.." +
                                    std::to_string(instance.machines()) + " processors");
            return instance.given(job, procs);
          },
          py::arg("job"), py::arg("procs"))
      .def(
          "select",
          [](const Instance& instance, const IntArray& jobs) {
            return instance.select(to_ints(jobs, "jobs"));
          },
          py::arg("jobs"))
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
}

void bind_schedule(py::module_& module) {
  module.def(
      "schedule",
      [](const Instance& instance, const Placement& placement) {
        checked(instance, placement);
        // What a search found before its limit is kept: its processors are numbered after the limit.
        const ScopedGrace grace(kLateness / 2);
        const Schedule schedule =
            released([&] { return moldable::to_schedule(instance, placement); });
        return schedule_columns(schedule);
      },
      py::arg("instance"), py::arg("placement"));
  module.def(
      "makespan_if_constant",
      [](const Instance& instance, const Placement& placement) {
        return list::makespan_if_constant(instance, checked(instance, placement));
      },
      py::arg("instance"), py::arg("placement"));
  module.def(
      "replay",
      [](const Instance& instance, const Placement& placement) {
        if (instance.sharing() == nullptr)
          throw InvalidInstance("expected an instance whose jobs share something");
        checked(instance, placement);
        return released([&] { return list::replayed(instance, placement); });
      },
      py::arg("instance"), py::arg("placement"));
}

template <class Key>
void bind_names(py::module_& module, const char* name,
                std::initializer_list<std::pair<const char*, Key>> entries) {
  py::enum_<Key> type(module, name);
  for (const auto& [text, value] : entries) type.value(text, value);
}

void bind_algorithms(py::module_& module) {
  bind_names<dual::ListOrder>(module, "ListOrder",
                              {{"shelf", dual::ListOrder::shelf},
                               {"lptf", dual::ListOrder::lptf},
                               {"saf", dual::ListOrder::saf}});
  bind_names<batches::LocalOrder>(module, "LocalOrder",
                                  {{"smith", batches::LocalOrder::smith},
                                   {"density", batches::LocalOrder::density},
                                   {"weight", batches::LocalOrder::weight},
                                   {"area", batches::LocalOrder::area}});
  using Compaction = batches::DemtOptions::Compaction;
  bind_names<Compaction>(module, "Compaction",
                         {{"none", Compaction::none},
                          {"early", Compaction::early},
                          {"list", Compaction::list},
                          {"shuffle", Compaction::shuffle}});
  def(module, "gang", &list::gang, py::arg("instance"));
  def(module, "sequential", &list::sequential, py::arg("instance"));
  using Graham = Placement (*)(const Instance&, dual::ListOrder, double);
  def(module, "list_graham", static_cast<Graham>(&dual::list_graham), py::arg("instance"),
      py::arg("order"), py::arg("tolerance"));
  module.def(
      "dual_approximation",
      [](const Instance& instance, double tolerance) {
        const auto found = released([&] { return dual::dual_approximation(instance, tolerance); });
        return py::make_tuple(found.schedule.placement, found.bound, dual::guarantee(instance));
      },
      py::arg("instance"), py::arg("tolerance"));
  module.def(
      "demt",
      [](const Instance& instance, Compaction compaction, batches::LocalOrder local_order,
         int shuffles, Seconds horizon, std::uint64_t seed) {
        const batches::DemtOptions options{compaction, local_order, shuffles, seed, horizon};
        return released([&] { return batches::demt(instance, options); });
      },
      py::arg("instance"), py::arg("compaction"), py::arg("local_order"), py::arg("shuffles"),
      py::arg("horizon"), py::arg("seed"));
  module.attr("BEST_WORK") = search::kBestWork;
  module.def(
      "demt_best",
      [](const Instance& instance, std::uint64_t seed, std::int64_t work, Seconds time_limit) {
        const search::BestOptions options{seed, work, time_limit};
        const search::BestResult found =
            released([&] { return search::demt_best(instance, options); });
        const auto& points = found.front.points();
        Table front(static_cast<std::ptrdiff_t>(points.size()), 2);
        for (int k = 0; k < static_cast<int>(points.size()); ++k) {
          front(k, 0) = points[k].value.makespan;
          front(k, 1) = points[k].value.minsum;
        }
        return py::make_tuple(points[found.chosen].placement, table_array(front),
                              stopped_by(false, found.complete));
      },
      py::arg("instance"), py::arg("seed"), py::arg("work"), py::arg("time_limit"));
  bind_names<search::Objective>(
      module, "Objective",
      {{"makespan", search::Objective::makespan}, {"minsum", search::Objective::minsum}});
  module.attr("SEARCH_WORK") = search::kSearchWork;
  module.def(
      "local_search",
      [](const Instance& instance, search::Objective objective, std::uint64_t seed,
         std::int64_t work, Seconds time_limit, const std::vector<Placement>& starts) {
        for (const Placement& start : starts) checked(instance, start);
        const search::SearchOptions options{objective, seed, work, time_limit, starts};
        const search::SearchResult found =
            released([&] { return search::local_search(instance, options); });
        return py::make_tuple(found.placement, found.bound,
                              stopped_by(found.proved, found.complete));
      },
      py::arg("instance"), py::arg("objective"), py::arg("seed"), py::arg("work"),
      py::arg("time_limit"), py::arg("starts"));
  module.attr("OPTIMAL_WORK") = search::kProofWork;
  module.attr("EXACT_JOBS") = search::kExactJobs;
  module.def(
      "optimal",
      [](const Instance& instance, search::Objective objective, std::int64_t work,
         Seconds time_limit) {
        const search::Proof found = released([&] {
          return search::optimal(instance, {objective, work, time_limit});
        });
        return py::make_tuple(found.placement, found.bound,
                              stopped_by(found.proved, found.in_time));
      },
      py::arg("instance"), py::arg("objective"), py::arg("work"), py::arg("time_limit"));
  // Holds the GIL: `solve` is a Python function that may call back into this module.
  module.def(
      "by_batches",
      [](const Instance& instance, const py::function& solve) {
        return batches::by_batches(instance, [&](const std::vector<int>& jobs) {
          return solve(int_array(jobs)).cast<Placement>();
        });
      },
      py::arg("instance"), py::arg("solve"));
}

// A bound that a time limit may end: its value, and whether none did.
template <class Bound>
auto limited(Bound (*bound)(const Instance&)) {
  return [bound](const Instance& instance, Seconds time_limit) {
    const ScopedTimeLimit limit(time_limit);
    const Bound found = bound(instance);
    return std::make_tuple(found.value, found.complete);
  };
}

void bind_bounds(py::module_& module) {
  def(module, "area_bound", &bounds::area_bound, py::arg("instance"));
  def(module, "longest_bound", &bounds::longest_bound, py::arg("instance"));
  def(module, "dual_approximation_bound", &dual::dual_approximation_bound, py::arg("instance"),
      py::arg("tolerance"));
  def(module, "configuration_bound", limited(&shared::configuration_bound), py::arg("instance"),
      py::arg("time_limit"));
  def(module, "time_indexed_bound", limited<slots::TimeIndexedBound>(&slots::time_indexed_bound),
      py::arg("instance"), py::arg("time_limit"));
  def(module, "slots_bound", limited<slots::SlotsBound>(&slots::slots_bound), py::arg("instance"),
      py::arg("time_limit"));
  module.def(
      "minsum_bound",
      [](const Instance& instance, const std::optional<RealArray>& grid, int refine, bool tight,
         bool by_glpk) {
        minsum::Options options{std::nullopt, refine, tight};
        if (grid) options.grid = to_reals(*grid);
        return released([&] {
          return by_glpk ? minsum::bound_by_glpk(instance, options)
                         : minsum::bound(instance, options);
        });
      },
      py::arg("instance"), py::arg("grid"), py::arg("refine"), py::arg("tight"),
      py::arg("by_glpk"));
  module.def(
      "default_grid",
      [](const Instance& instance) {
        return real_array(released([&] { return minsum::default_grid(instance); }));
      },
      py::arg("instance"));
}

}  // namespace

void bind_moldable(py::module_& module) {
  bind_instance(module);
  bind_schedule(module);
  bind_algorithms(module);
  bind_bounds(module);
  bind_graph(module);
}

}  // namespace cosched::moldable::bindings
