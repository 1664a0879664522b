// _core.Sharing: what the tasks of packs and moldable share.
#include <map>
#include <string>

#include "cosched/core/sharing.hpp"
#include "pybind.hpp"

namespace cosched::bindings {
namespace {

using Needs = std::map<std::string, std::pair<RealArray, double>>;
using Pairs = std::optional<std::pair<RealArray, SlowdownRule>>;
using Traffic = std::optional<std::tuple<RealArray, double, RealArray>>;

Sharing to_sharing(int tasks, const Needs& needs, const Pairs& slowdowns,
                   const Traffic& bandwidth) {
  std::vector<Resource> resources;
  for (const auto& [name, given] : needs)
    resources.push_back({name, given.second, to_table(given.first)});
  std::optional<Slowdowns> pairs;
  if (slowdowns) pairs = Slowdowns{to_table(slowdowns->first), slowdowns->second};
  std::optional<Bandwidth> traffic;
  if (bandwidth) {
    const auto& [demand, capacity, stall] = *bandwidth;
    traffic = Bandwidth{to_table(demand), capacity, to_reals(stall)};
  }
  return Sharing(tasks, std::move(resources), std::move(pairs), std::move(traffic));
}

}  // namespace

void bind_sharing(py::module_& module) {
  py::enum_<SlowdownRule>(module, "SlowdownRule")
      .value("sum", SlowdownRule::sum)
      .value("product", SlowdownRule::product)
      .value("max", SlowdownRule::max);
  py::class_<Sharing, std::shared_ptr<Sharing>>(module, "Sharing")
      .def(py::init(&to_sharing), py::arg("tasks"), py::arg("resources"), py::arg("slowdowns"),
           py::arg("bandwidth"))
      .def_property_readonly("slows", &Sharing::slows);
}

}  // namespace cosched::bindings
