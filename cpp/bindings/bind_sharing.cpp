// _core.Sharing: what the tasks of packs and moldable share.
#include <map>
#include <string>

#include "cosched/core/sharing.hpp"
#include "pybind.hpp"

namespace cosched::bindings {
namespace {

Sharing to_sharing(int tasks, const std::map<std::string, std::pair<Table, double>>& needs,
                   const std::optional<std::pair<Table, SlowdownRule>>& slowdowns,
                   const std::optional<std::tuple<Table, double, Reals>>& bandwidth) {
  std::vector<Resource> resources;
  for (const auto& [name, given] : needs) resources.push_back({name, given.second, given.first});
  std::optional<Slowdowns> pairs;
  if (slowdowns) pairs = Slowdowns{slowdowns->first, slowdowns->second};
  std::optional<Bandwidth> traffic;
  if (bandwidth)
    traffic = Bandwidth{std::get<0>(*bandwidth), std::get<1>(*bandwidth), std::get<2>(*bandwidth)};
  return Sharing(tasks, std::move(resources), std::move(pairs), std::move(traffic));
}

}  // namespace

void bind_sharing(py::module_& module) {
  def_names<SlowdownRule>(
      module, "SlowdownRule",
      {{"sum", SlowdownRule::sum}, {"product", SlowdownRule::product}, {"max", SlowdownRule::max}});
  py::class_<Sharing, std::shared_ptr<Sharing>>(module, "Sharing")
      .def(py::init(&to_sharing), "tasks"_a, "resources"_a, "slowdowns"_a, "bandwidth"_a)
      .def_property_readonly("slows", &Sharing::slows);
}

}  // namespace cosched::bindings
