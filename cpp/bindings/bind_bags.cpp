#include "cosched/bags/check/validate.hpp"
#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/energy/programmes.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/model/instance.hpp"
#include "cosched/bags/model/plan.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/make_plan.hpp"
#include "cosched/bags/rounding/rounding.hpp"
#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/ttb_best.hpp"
#include "cosched/core/errors.hpp"
#include "pybind.hpp"

namespace cosched::bags::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

using Seconds = std::optional<double>;

std::vector<std::int64_t> to_longs(const IntArray& values) {
  return {values.data(), values.data() + values.size()};
}

py::array_t<std::int64_t> long_array(const std::vector<std::int64_t>& values) {
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array_t<std::int64_t> counts_array(const Counts& counts) {
  py::array_t<std::int64_t> result({counts.rows(), counts.cols()});
  std::copy(counts.data(), counts.data() + counts.size(), result.mutable_data());
  return result;
}

Counts to_counts(const IntArray& values) {
  if (values.ndim() != 2) throw InvalidInstance("counts: expected 2 dimensions");
  Counts counts(values.shape(0), values.shape(1));
  std::copy(values.data(), values.data() + values.size(), counts.data());
  return counts;
}

energy::Cut cut_of(bool long_tasks) {
  return long_tasks ? energy::Cut::long_tasks : energy::Cut::none;
}

// What cosched.bags.Result is made of.
py::dict plan_dict(const Instance& instance, const Plan& plan) {
  const Timetable times = timetable(instance, plan);
  std::vector<int> task_type, machine_type, machine;
  std::vector<std::int64_t> count;
  for (const Run& run : plan.runs) {
    task_type.push_back(run.task_type);
    machine_type.push_back(run.machine_type);
    machine.push_back(run.machine);
    count.push_back(run.count);
  }
  py::list loads;
  for (const std::vector<double>& of_type : plan.loads) loads.append(real_array(of_type));
  py::dict result;
  result["counts"] = counts_array(plan.counts);
  result["rows"] =
      py::make_tuple(int_array(task_type), int_array(machine_type), int_array(machine),
                     long_array(count), real_array(times.start), real_array(times.end));
  result["loads"] = loads;
  result["makespan"] = plan.makespan;
  result["energy"] = plan.energy;
  result["profit_rate"] = plan.profit_rate;
  return result;
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const IntArray& counts, const IntArray& machines, const Table& etc,
                       const Table& apc, double price, double energy_cost, const IntArray& allowed,
                       const Reals& idle_power, double power_cap) {
             const auto flags = to_longs(allowed);
             return Instance(to_longs(counts), to_longs(machines), etc, apc, price, energy_cost,
                             {{flags.begin(), flags.end()}, idle_power, power_cap});
           }),
           py::arg("counts"), py::arg("machines"), py::arg("etc"), py::arg("apc"), py::arg("price"),
           py::arg("energy_cost"), py::arg("allowed"), py::arg("idle_power"), py::arg("power_cap"))
      .def_property_readonly("etc",
                             [](const py::object& self) {
                               return table_view(self.cast<const Instance&>().etc(), self);
                             })
      .def_property_readonly("apc",
                             [](const py::object& self) {
                               return table_view(self.cast<const Instance&>().apc(), self);
                             })
      .def_property_readonly("joules",
                             [](const py::object& self) {
                               return table_view(self.cast<const Instance&>().all_joules(), self);
                             })
      .def_property_readonly("least_joules", &Instance::least_joules)
      .def_property_readonly("idle_power", &Instance::idle_power)
      .def("profit_rate", &Instance::profit_rate, py::arg("dynamic_joules"), py::arg("makespan"))
      .def(
          "validate",
          [](const Instance& instance, const IntArray& task_type, const IntArray& machine_type,
             const IntArray& machine, const IntArray& count, const RealArray& start,
             const RealArray& end) {
            const check::Rows rows{to_longs(task_type), to_longs(machine_type), to_longs(machine),
                                   to_longs(count),     to_reals(start),        to_reals(end)};
            released([&] { check::validate(instance, rows); });
          },
          py::arg("task_type"), py::arg("machine_type"), py::arg("machine"), py::arg("count"),
          py::arg("start"), py::arg("end"));
}

void bind_relaxation(py::module_& module) {
  def(
      module, "front",
      [](const Instance& instance, bool cut) {
        std::tuple<Reals, Reals> front;
        for (const energy::FrontPoint& point : energy::energy_front(instance, cut_of(cut))) {
          std::get<0>(front).push_back(point.makespan);
          std::get<1>(front).push_back(point.joules);
        }
        return front;
      },
      py::arg("instance"), py::arg("cut"));
  def(
      module, "relaxation",
      [](const Instance& instance, double makespan, bool by_glpk) {
        const energy::Relaxation found =
            (by_glpk ? energy::relaxation_lp : energy::relaxation)(instance, makespan);
        return std::make_tuple(found.feasible, found.joules, found.x);
      },
      py::arg("instance"), py::arg("makespan"), py::arg("by_glpk"));
  def(module, "least_makespan", &energy::least_makespan, py::arg("instance"));
  def(
      module, "best_rate",
      [](const Instance& instance, bool cut) {
        const energy::BestRate best = energy::best_rate(instance, cut_of(cut));
        return std::make_tuple(best.makespan, best.rate);
      },
      py::arg("instance"), py::arg("cut"));
  def(
      module, "profit_lp",
      [](const Instance& instance) {
        const energy::ProfitLp found = energy::profit_lp(instance);
        return std::make_tuple(found.makespan, found.rate);
      },
      py::arg("instance"));
}

void bind_rounding(py::module_& module) {
  module.def(
      "round_relaxation",
      [](const Instance& instance, const Table& x, bool matching) {
        return counts_array(released([&] {
          return (matching ? rounding::round_by_matching : rounding::round_by_largest_part)(
              instance, x);
        }));
      },
      py::arg("instance"), py::arg("x"), py::arg("matching"));
  module.def(
      "assign",
      [](const Instance& instance, const IntArray& counts) {
        const Counts given = to_counts(counts);
        return plan_dict(instance, released([&] { return rounding::make_plan(instance, given); }));
      },
      py::arg("instance"), py::arg("counts"));
  module.def(
      "spread",
      [](Reals after, std::int64_t count, double length) {
        const auto taken = released([&] { return rounding::spread(after, count, length); });
        return py::make_tuple(long_array(taken), real_array(after));
      },
      py::arg("loads"), py::arg("count"), py::arg("length"));
}

// A function from an instance to a plan.
template <class Solver>
auto solving(Solver solver) {
  return [solver](const Instance& instance) {
    return plan_dict(instance, released([&] { return solver(instance); }));
  };
}

void bind_algorithms(py::module_& module) {
  module.attr("DEFAULT_EPS") = rounding::kDefaultEps;
  module.def(
      "ttb",
      [](const Instance& instance, double eps, bool with_tms) {
        return plan_dict(instance,
                         released([&] { return rounding::ttb(instance, eps, with_tms); }));
      },
      py::arg("instance"), py::arg("eps"), py::arg("with_tms"));
  module.def(
      "ttb_best",
      [](const Instance& instance, std::int64_t work, Seconds time_limit) {
        const search::BestPlan best =
            released([&] { return search::ttb_best(instance, work, time_limit); });
        return py::make_tuple(plan_dict(instance, best.plan),
                              stopped_by(best.proved, best.complete), best.rate_bound);
      },
      py::arg("instance"), py::arg("work"), py::arg("time_limit"));
  module.attr("BEST_WORK") = search::kBestWork;
  module.def("ttb_exact", solving(&rounding::ttb_exact), py::arg("instance"));
  module.def("tms", solving(&rounding::tms), py::arg("instance"));
  module.def("min_energy", solving(&rounding::min_energy), py::arg("instance"));
  module.def("min_makespan", solving(&rounding::min_makespan), py::arg("instance"));
}

}  // namespace

void bind_bags(py::module_& module) {
  bind_instance(module);
  bind_relaxation(module);
  bind_rounding(module);
  bind_algorithms(module);
}

}  // namespace cosched::bags::bindings
