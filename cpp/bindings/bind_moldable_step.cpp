#include "cosched/moldable/step/step.hpp"
#include "pybind.hpp"

namespace cosched::moldable::bindings {

using namespace cosched::bindings;

void bind_step(py::module_& module) {
  def(
      module, "step",
      [](const Instance& instance, const Reals& free_in, double budget, double ratio) {
        const auto found = step::step(instance, free_in, budget, {ratio});
        return std::make_tuple(Ints(step::owners(found.plan, free_in)), found.makespan, found.bound,
                               found.state.ratio);
      },
      py::arg("instance"), py::arg("free_in"), py::arg("budget"), py::arg("ratio"));
}

}  // namespace cosched::moldable::bindings
