#include "certificates.hpp"

#include <string>
#include <utility>

#include "cosched/core/errors.hpp"

namespace cosched::bindings {

std::vector<Edge> to_edges(const IntArray& edges) {
  if (edges.ndim() != 2 || edges.shape(1) != 2)
    throw InvalidInstance("edges: expected shape (e, 2)");
  const auto flat = to_ints(edges.attr("ravel")().cast<IntArray>(), "edges");
  std::vector<Edge> pairs;
  for (std::size_t k = 0; k < flat.size(); k += 2) pairs.emplace_back(flat[k], flat[k + 1]);
  return pairs;
}

py::object entry(const py::dict& given, const char* name) {
  if (!given.contains(name)) throw InvalidInstance(std::string("certificate: no ") + name);
  return given[name];
}

std::vector<double> reals(const py::dict& given, const char* name) {
  return to_reals(entry(given, name).attr("ravel")().cast<RealArray>());
}

FlowArrays flow_arrays(const std::vector<EdgeFlow>& flow) {
  std::vector<std::int64_t> edges;
  std::vector<double> amounts;
  for (const EdgeFlow& edge : flow) {
    edges.push_back(edge.from);
    edges.push_back(edge.to);
    amounts.push_back(edge.amount);
  }
  const auto count = static_cast<py::ssize_t>(flow.size());
  return {frozen(std::move(edges), {count, 2}), frozen(std::move(amounts))};
}

std::vector<EdgeFlow> to_flow(const py::dict& given) {
  const std::vector<Edge> edges = to_edges(entry(given, "edges").cast<IntArray>());
  const std::vector<double> amounts = reals(given, "edge_flow");
  if (edges.size() != amounts.size())
    throw InvalidInstance("certificate: edge arrays of different lengths");
  std::vector<EdgeFlow> flow;
  for (std::size_t k = 0; k < edges.size(); ++k)
    flow.push_back({edges[k].first, edges[k].second, amounts[k]});
  return flow;
}

}  // namespace cosched::bindings
