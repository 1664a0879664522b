// Placements of moldable jobs across the border.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "cosched/moldable/model/placement.hpp"
#include "pybind.hpp"

namespace cosched::moldable::bindings {

using namespace cosched::bindings;  // NOLINT

using Seconds = std::optional<double>;
/// (procs, start, end) each.
using Placements = std::vector<std::tuple<IntArray, RealArray, RealArray>>;

py::tuple placement_tuple(const Placement& placement);
Placement to_placement(const IntArray& procs, const RealArray& start, const RealArray& end);
/// procs in 1..m, one entry a job: before an accessor to the profiles trusts them.
void require_placement(const Instance& instance, const Placement& placement);
std::vector<Placement> to_starts(const Instance& instance, const Placements& starts);

/// bind_moldable_graph.cpp.
void bind_graph(py::module_& module);

}  // namespace cosched::moldable::bindings
