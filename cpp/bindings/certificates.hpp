// Parts of certificates as dicts of arrays.  Arrays that go out are read-only.
#pragma once

#include <vector>

#include "cosched/core/task_graph.hpp"
#include "pybind.hpp"

namespace cosched::bindings {

/// (e, 2) integers.
std::vector<Edge> to_edges(const IntArray& edges);

/// The entry of a certificate, by name.
py::object entry(const py::dict& given, const char* name);
/// Its numbers.
std::vector<double> reals(const py::dict& given, const char* name);

/// Edges, and the flow on them.
struct FlowArrays {
  py::object edges, amounts;
};
FlowArrays flow_arrays(const std::vector<EdgeFlow>& flow);
/// Entries edges and edge_flow.
std::vector<EdgeFlow> to_flow(const py::dict& given);

}  // namespace cosched::bindings
