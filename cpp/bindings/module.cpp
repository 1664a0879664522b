// The extension module cosched._core: errors, interrupts, and one submodule for each family.
#include <map>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/sharing.hpp"
#include "pybind.hpp"

// Each family has a namespace of its own: several files of bindings may share a compilation unit.
namespace cosched {
namespace packs::bindings {
void bind_packs(pybind11::module_& module);
}
namespace dags::bindings {
void bind_dags(pybind11::module_& module);
}
namespace cluster::bindings {
void bind_cluster(pybind11::module_& module);
}
namespace slurm::bindings {
void bind_slurm(pybind11::module_& module);
}
namespace moldable::bindings {
void bind_moldable(pybind11::module_& module);
}  // namespace moldable::bindings
namespace bags::bindings {
void bind_bags(pybind11::module_& module);
}
}  // namespace cosched

namespace cosched::bindings {

namespace {

// C++ errors become the classes of cosched/errors.py.
void raise_as(const char* name, const std::exception& error) {
  const py::object type = py::module_::import("cosched.errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

void raise_invalid_instance(const InvalidInstance& error) {
  const py::object type = py::module_::import("cosched.errors").attr("InvalidInstance");
  const py::object python_error = type(error.what());
  if (error.row >= 0) {
    python_error.attr("column") = error.column;
    python_error.attr("row") = error.row;
  }
  PyErr_SetObject(type.ptr(), python_error.ptr());
}

void translate(std::exception_ptr pointer) {
  if (!pointer) return;
  try {
    std::rethrow_exception(pointer);
  } catch (const InvalidInstance& error) {
    raise_invalid_instance(error);
  } catch (const InfeasibleError& error) {
    raise_as("InfeasibleError", error);
  } catch (const SolverError& error) {
    raise_as("SolverError", error);
  } catch (const InvalidSchedule& error) {
    raise_as("InvalidSchedule", error);
  } catch (const TimeLimit& error) {
    raise_as("TimeLimit", error);
  } catch (const Error& error) {
    raise_as("CoschedError", error);
  }
}

// Called from solvers that run without the GIL: lets Ctrl-C through.
void check_signals() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// `with _core.time_limit(seconds):` ends C++ work of this thread; None sets no limit.
class TimeLimitContext {
 public:
  explicit TimeLimitContext(std::optional<double> seconds) : seconds_(seconds) {
    const ScopedTimeLimit check(seconds);  // throws on NaN and negative seconds
  }
  void enter() { scope_ = std::make_unique<ScopedTimeLimit>(seconds_); }
  void exit(const py::args&) { scope_.reset(); }

 private:
  std::optional<double> seconds_;
  std::unique_ptr<ScopedTimeLimit> scope_;
};

// What the tasks of packs and moldable share.
Sharing to_sharing(int tasks, const std::map<std::string, std::pair<Table, double>>& needs,
                   const std::optional<std::pair<Table, SlowdownRule>>& slowdowns,
                   const std::optional<std::tuple<Table, double, Reals>>& bandwidth) {
  std::vector<Resource> resources;
  for (const auto& [name, need] : needs)
    resources.push_back({.name = name, .capacity = need.second, .need = need.first});
  std::optional<Slowdowns> pairs;
  if (slowdowns) pairs = Slowdowns{slowdowns->first, slowdowns->second};
  std::optional<Bandwidth> traffic;
  if (bandwidth)
    traffic = Bandwidth{std::get<0>(*bandwidth), std::get<1>(*bandwidth), std::get<2>(*bandwidth)};
  return Sharing(tasks, std::move(resources), std::move(pairs), std::move(traffic));
}

void bind_sharing(py::module_& module) {
  def_names<SlowdownRule>(
      module, "SlowdownRule",
      {{"sum", SlowdownRule::sum}, {"product", SlowdownRule::product}, {"max", SlowdownRule::max}});
  py::class_<Sharing, std::shared_ptr<Sharing>>(module, "Sharing")
      .def(py::init(&to_sharing), "tasks"_a, "resources"_a, "slowdowns"_a, "bandwidth"_a)
      .def_property_readonly("slows", &Sharing::slows);
}

}  // namespace
}  // namespace cosched::bindings

PYBIND11_MODULE(_core, module) {
  using namespace cosched::bindings;
  module.doc() = "C++ core of cosched. Not public: use cosched.<family>.";
  py::register_exception_translator(&translate);
  cosched::set_interrupt_hook(&check_signals);
  py::class_<TimeLimitContext>(module, "time_limit")
      .def(py::init<std::optional<double>>(), "seconds"_a)
      .def("__enter__", &TimeLimitContext::enter)
      .def("__exit__", &TimeLimitContext::exit);
  module.def("check_interrupt", &cosched::check_interrupt);  // for loops in Python
  module.def("request_stop", &cosched::request_stop);
  module.def("forget_stop", &cosched::forget_stop);
  module.def("seconds_left", &cosched::seconds_left);  // for solvers with a clock of their own
  bind_sharing(module);
  auto packs = module.def_submodule("packs");
  cosched::packs::bindings::bind_packs(packs);
  auto dags = module.def_submodule("dags");
  cosched::dags::bindings::bind_dags(dags);
  auto cluster = module.def_submodule("cluster");
  cosched::cluster::bindings::bind_cluster(cluster);
  auto slurm = module.def_submodule("slurm");
  cosched::slurm::bindings::bind_slurm(slurm);
  auto moldable = module.def_submodule("moldable");
  cosched::moldable::bindings::bind_moldable(moldable);
  auto bags = module.def_submodule("bags");
  cosched::bags::bindings::bind_bags(bags);
}
