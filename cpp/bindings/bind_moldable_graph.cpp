#include <memory>
#include <tuple>
#include <utility>

#include "certificates.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/work_path.hpp"
#include "cosched/moldable/graph/bound.hpp"
#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/graph/search.hpp"
#include "moldable_placements.hpp"

namespace cosched::moldable::bindings {
namespace {

std::shared_ptr<const TaskGraph> to_graph(int jobs, const IntArray& edges) {
  return std::make_shared<const TaskGraph>(jobs, to_edges(edges));
}

py::dict certificate_dict(const graph::Certificate& certificate) {
  const FlowArrays flow = flow_arrays(certificate.edge_flow);
  py::dict made;
  made["weights"] = real_array(certificate.weights);
  made["task_flow"] = real_array(certificate.task_flow);
  made["edges"] = flow.edges;
  made["edge_flow"] = flow.amounts;
  return made;
}

graph::SearchOptions to_options(const Instance& instance, std::uint64_t seed, std::int64_t work,
                                Seconds time_limit, const Placements& starts) {
  return {seed, work, time_limit, to_starts(instance, starts)};
}

py::tuple found_tuple(const graph::Found& found) {
  return py::make_tuple(placement_tuple(found.placement), found.bound,
                        stopped_by(found.proved, found.complete));
}

}  // namespace

void bind_graph(py::module_& module) {
  module.attr("MOST_EXACT_JOBS") = graph::kMostExactJobs;
  module.def(
      "with_graph",
      [](const Instance& instance, const IntArray& edges) {
        return instance.after(to_graph(instance.jobs(), edges));
      },
      py::arg("instance"), py::arg("edges"));
  module.def(
      "work_and_path",
      [](const Instance& instance) {
        const graph::WorkPath found = released([&] { return graph::work_and_path(instance); });
        return py::make_tuple(found.value, real_array(found.duration),
                              certificate_dict(found.certificate), found.complete, found.failure);
      },
      py::arg("instance"));
  module.def(
      "heads_and_tails",
      [](const Instance& instance, double low) {
        return released([&] { return graph::heads_and_tails(instance, low); });
      },
      py::arg("instance"), py::arg("low"));
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
        const auto [placement, ratio] = released([&] {
          const graph::Choices choices(instance);
          const graph::WorkPath programme = graph::work_and_path(instance);
          const graph::Allotted allotted = graph::round_work_path(instance, choices, programme);
          return std::make_tuple(graph::list_schedule(instance, choices, allotted.chosen),
                                 programme.complete ? allotted.ratio : 0.0);
        });
        return py::make_tuple(placement_tuple(placement), ratio);
      },
      py::arg("instance"));
  module.def(
      "list_local",
      [](const Instance& instance, double mu) {
        const auto [placement, ratio] = released([&] {
          const graph::Choices choices(instance);
          const graph::Allotted allotted = graph::allot_locally(instance, choices, mu);
          return std::make_tuple(graph::list_schedule(instance, choices, allotted.chosen),
                                 allotted.ratio);
        });
        return py::make_tuple(placement_tuple(placement), ratio);
      },
      py::arg("instance"), py::arg("mu"));
  module.def(
      "graph_search",
      [](const Instance& instance, std::uint64_t seed, std::int64_t work, Seconds time_limit,
         const Placements& starts) {
        const graph::SearchOptions options = to_options(instance, seed, work, time_limit, starts);
        return found_tuple(released([&] { return graph::local_search(instance, options); }));
      },
      py::arg("instance"), py::arg("seed"), py::arg("work"), py::arg("time_limit"),
      py::arg("starts"));
  module.def(
      "graph_optimal",
      [](const Instance& instance, std::int64_t work, Seconds time_limit) {
        const graph::SearchOptions options = to_options(instance, 0, work, time_limit, {});
        return found_tuple(released([&] { return graph::optimal(instance, options); }));
      },
      py::arg("instance"), py::arg("work"), py::arg("time_limit"));
}

}  // namespace cosched::moldable::bindings
