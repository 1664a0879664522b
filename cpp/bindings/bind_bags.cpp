#include "cosched/bags/check/validate.hpp"
#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/energy/glpk_programmes.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/rounding.hpp"
#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/ttb_best.hpp"
#include "pybind.hpp"

namespace cosched::bags {

// What cosched.bags.Result is made of.
struct Planned {
  BagPlan plan;
  Timetable times;
};

bindings::py::dict in_python(const Planned& planned) {
  using namespace bindings;  // NOLINT
  const auto& [plan, times] = planned;
  Ints task_type, machine_type, machine;
  Longs count;
  for (const TaskRun& run : plan.runs) {
    task_type.push_back(run.task_type);
    machine_type.push_back(run.machine_type);
    machine.push_back(run.machine);
    count.push_back(run.count);
  }
  return py::dict("counts"_a = plan.counts,
                  "rows"_a = py::make_tuple(task_type, machine_type, machine, count,
                                            array_of(times.start), array_of(times.end)),
                  "loads"_a = std::vector<Reals>(plan.loads.begin(), plan.loads.end()),
                  "makespan"_a = plan.makespan, "energy"_a = plan.energy,
                  "profit_rate"_a = plan.profit_rate);
}

namespace bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

energy::Cut cut_of(bool long_tasks) {
  return long_tasks ? energy::Cut::long_tasks : energy::Cut::none;
}

void bind_instance(py::module_& module) {
  py::class_<Instance>(module, "Instance")
      .def(py::init([](const Longs& counts, const Longs& machines, const Table& etc,
                       const Table& apc, double price, double energy_cost, const IntArray& allowed,
                       const Reals& idle_power, double power_cap) {
             return Instance(
                 counts, machines, etc, apc, price, energy_cost,
                 {{allowed.data(), allowed.data() + allowed.size()}, idle_power, power_cap});
           }),
           "counts"_a, "machines"_a, "etc"_a, "apc"_a, "price"_a, "energy_cost"_a, "allowed"_a,
           "idle_power"_a, "power_cap"_a)
      .def_property_readonly("etc", table_of(&Instance::etc))
      .def_property_readonly("apc", table_of(&Instance::apc))
      .def_property_readonly("joules", table_of(&Instance::all_joules))
      .def_property_readonly("least_joules", &Instance::least_joules)
      .def_property_readonly("idle_power", &Instance::idle_power)
      .def("profit_rate", &Instance::profit_rate, "dynamic_joules"_a, "makespan"_a)
      .def(
          "validate",
          [](const Instance& instance, const Longs& task_type, const Longs& machine_type,
             const Longs& machine, const Longs& count, const Reals& start, const Reals& end) {
            check::validate(instance, {task_type, machine_type, machine, count, start, end});
          },
          "task_type"_a, "machine_type"_a, "machine"_a, "count"_a, "start"_a, "end"_a,
          py::call_guard<Released>());
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
      "instance"_a, "cut"_a);
  def(
      module, "relaxation",
      [](const Instance& instance, double makespan, bool by_glpk) {
        const energy::EnergyRelaxation relaxation =
            (by_glpk ? energy::solve_relaxation_by_glpk : energy::solve_relaxation)(instance,
                                                                                    makespan);
        return std::make_tuple(relaxation.is_feasible, relaxation.joules, relaxation.x);
      },
      "instance"_a, "makespan"_a, "by_glpk"_a);
  def(module, "least_makespan", &energy::least_makespan, "instance"_a);
  def(
      module, "best_rate",
      [](const Instance& instance, bool cut) {
        const energy::BestRate best = energy::best_rate(instance, cut_of(cut));
        return std::make_tuple(best.makespan, best.rate);
      },
      "instance"_a, "cut"_a);
  def(
      module, "profit_lp",
      [](const Instance& instance) {
        const energy::ProfitLp optimum = energy::solve_profit_by_glpk(instance);
        return std::make_tuple(optimum.makespan, optimum.rate);
      },
      "instance"_a);
}

// A function of an instance, and more, that makes a plan.
template <class... More>
auto planning(BagPlan (*solver)(const Instance&, More...)) {
  return [solver](const Instance& instance, const std::decay_t<More>&... more) {
    BagPlan plan = solver(instance, more...);
    Timetable times = make_timetable(instance, plan);
    return Planned{std::move(plan), std::move(times)};
  };
}

void bind_algorithms(py::module_& module) {
  module.attr("DEFAULT_EPS") = rounding::kDefaultEps;
  module.attr("BEST_WORK") = search::kBestWork;
  def(
      module, "round_relaxation",
      [](const Instance& instance, const Table& x, bool matching) {
        return (matching ? rounding::round_by_matching : rounding::round_by_largest_part)(instance,
                                                                                          x);
      },
      "instance"_a, "x"_a, "matching"_a);
  def(module, "assign", planning(&rounding::make_plan), "instance"_a, "counts"_a);
  def(module, "ttb", planning(&rounding::ttb), "instance"_a, "eps"_a, "with_tms"_a);
  def(
      module, "ttb_best",
      [](const Instance& instance, std::int64_t work, Seconds time_limit) {
        search::TtbBestResult best = search::ttb_best(instance, work, time_limit);
        Timetable times = make_timetable(instance, best.plan);
        return std::make_tuple(Planned{std::move(best.plan), std::move(times)},
                               stopped_by(best.is_proved, best.is_complete), best.rate_bound);
      },
      "instance"_a, "work"_a, "time_limit"_a);
  def(module, "ttb_exact", planning(&rounding::ttb_exact), "instance"_a);
  def(module, "tms", planning(&rounding::tms), "instance"_a);
  def(module, "min_energy", planning(&rounding::min_energy), "instance"_a);
  def(module, "min_makespan", planning(&rounding::min_makespan), "instance"_a);
}

}  // namespace

void bind_bags(py::module_& module) {
  bind_instance(module);
  bind_relaxation(module);
  bind_algorithms(module);
}

}  // namespace bindings
}  // namespace cosched::bags
