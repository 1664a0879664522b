#include <utility>

#include "certificates.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/work_path.hpp"
#include "cosched/moldable/graph/bound.hpp"
#include "cosched/moldable/graph/list.hpp"
#include "moldable_placements.hpp"

namespace cosched::moldable::bindings {
namespace {

py::dict certificate_dict(const graph::Certificate& certificate) {
  const FlowArrays flow = flow_arrays(certificate.edge_flow);
  py::dict made;
  made["weights"] = real_array(certificate.weights);
  made["task_flow"] = real_array(certificate.task_flow);
  made["edges"] = flow.edges;
  made["edge_flow"] = flow.amounts;
  return made;
}

}  // namespace

void bind_graph(py::module_& module) {
  module.def(
      "work_and_path",
      [](const Instance& instance) {
        const graph::WorkPath found = released([&] { return graph::work_and_path(instance); });
        return py::make_tuple(found.value, real_array(found.duration),
                              certificate_dict(found.certificate), found.complete, found.failure);
      },
      py::arg("instance"));
  def(module, "heads_and_tails", &graph::heads_and_tails, py::arg("instance"), py::arg("low"));
  module.def(
      "work_path_certified_bound",
      [](const Instance& instance, const py::dict& certificate) {
        return check::certified_bound(
            instance,
            {reals(certificate, "weights"), reals(certificate, "task_flow"), to_flow(certificate)});
      },
      py::arg("instance"), py::arg("certificate"));
  module.def(
      "list_lp",
      [](const Instance& instance) {
        const graph::Listed found = released([&] { return graph::list_lp(instance); });
        return py::make_tuple(found.placement, found.ratio);
      },
      py::arg("instance"));
  module.def(
      "list_local",
      [](const Instance& instance, double mu) {
        const graph::Listed found = released([&] { return graph::list_local(instance, mu); });
        return py::make_tuple(found.placement, found.ratio);
      },
      py::arg("instance"), py::arg("mu"));
}

}  // namespace cosched::moldable::bindings
