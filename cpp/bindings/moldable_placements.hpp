// Placements of moldable jobs across the border.
#pragma once

#include <optional>
#include <vector>

#include "cosched/moldable/model/placement.hpp"
#include "pybind.hpp"

namespace pybind11::detail {

/// (procs, start, end), an array each.
template <>
struct type_caster<cosched::moldable::Placement> {
  PYBIND11_TYPE_CASTER(cosched::moldable::Placement, const_name("tuple"));
  bool load(handle source, bool convert);
  static handle cast(const cosched::moldable::Placement& placement, return_value_policy, handle);
};

}  // namespace pybind11::detail

namespace cosched::moldable::bindings {

using namespace cosched::bindings;  // NOLINT

using Seconds = std::optional<double>;

/// A placement that Python gave: procs in 1..m, one entry a job, before an accessor to the profiles
/// trusts them.
const Placement& checked(const Instance& instance, const Placement& placement);

/// bind_moldable_graph.cpp.
void bind_graph(py::module_& module);

}  // namespace cosched::moldable::bindings
