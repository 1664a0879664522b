#include <optional>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/transfers.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/dags/proof/transfers_relaxation.hpp"
#include "dags_certificates.hpp"

namespace cosched::dags::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

// (raise, loads, task flow, edge flow, shift (e, Q) or empty, intervals, guesses), the last a row
// (whether of an edge, task or edge, type or way) each.
py::tuple stage_tuple(proof::TransferStage stage, py::ssize_t types) {
  const py::object intervals = intervals_array(stage.intervals);
  const auto edges = static_cast<py::ssize_t>(stage.shift.size()) / types;
  std::vector<std::int64_t> guesses;
  for (const auto& [of_edge, item, choice] : stage.guesses)
    for (const int entry : {static_cast<int>(of_edge), item, choice}) guesses.push_back(entry);
  const auto count = static_cast<py::ssize_t>(stage.guesses.size());
  return py::make_tuple(frozen(std::move(stage.raise)), frozen(std::move(stage.loads)),
                        frozen(std::move(stage.task_flow)), frozen(std::move(stage.edge_flow)),
                        frozen(std::move(stage.shift), {edges, types}), intervals,
                        frozen(std::move(guesses), {count, 3}));
}

proof::TransferStage to_transfer_stage(const py::tuple& given) {
  const auto reals = [&](int k) { return to_reals(given[k].cast<RealArray>()); };
  proof::TransferStage stage;
  stage.raise = reals(0);
  stage.loads = reals(1);
  stage.task_flow = reals(2);
  stage.edge_flow = reals(3);
  stage.shift = to_reals(given[4].attr("ravel")().cast<RealArray>());
  stage.intervals = to_intervals(given[5]);
  const auto guesses = to_ints(given[6].attr("ravel")().cast<IntArray>(), "guesses");
  for (std::size_t k = 0; k + 2 < guesses.size(); k += 3)
    stage.guesses.push_back({guesses[k] != 0, guesses[k + 1], guesses[k + 2]});
  return stage;
}

// (refuted makespan, stages, whether with clusters).
py::tuple refutation_tuple(proof::TransferRefutation refutation, int types) {
  py::list stages;
  for (proof::TransferStage& stage : refutation.stages)
    stages.append(stage_tuple(std::move(stage), types));
  return py::make_tuple(refutation.makespan, py::tuple(stages), refutation.clusters);
}

// (value, x, C, refuted makespan, stages).
py::tuple relaxation_tuple(proof::TransfersRelaxation found) {
  const py::ssize_t n = found.x.rows(), types = found.x.cols();
  const py::tuple proof = refutation_tuple(std::move(found.refutation), static_cast<int>(types));
  return py::make_tuple(found.value, frozen(std::move(found.x), {n, types}),
                        frozen(std::move(found.completion)), proof[0], proof[1]);
}

void bind_relaxation(py::module_& module) {
  module.def(
      "transfers_relaxation",
      [](const Instance& instance, const std::string& method) {
        const hlp::Method chosen = method == "glpk" ? hlp::Method::glpk : hlp::Method::structured;
        return relaxation_tuple(
            released([&] { return proof::transfers_relaxation(instance, chosen); }));
      },
      py::arg("instance"), py::arg("method"));
  module.def(
      "transfers_model",
      [](const Instance& instance) { return model_dict(proof::transfers_model(instance)); },
      py::arg("instance"));
  module.def(
      "transfers_from_lp",
      [](const Instance& instance, const RealArray& x, const RealArray& dual) {
        const lp::Model model = proof::transfers_model(instance);
        const std::vector<double> values = to_reals(x), prices = to_reals(dual);
        if (static_cast<int>(values.size()) != model.columns() ||
            static_cast<int>(prices.size()) != model.rows())
          throw InvalidInstance("transfers_from_lp: expected a value a column and a price a row");
        return relaxation_tuple(proof::transfers_from_lp(instance, values, prices));
      },
      py::arg("instance"), py::arg("x"), py::arg("dual"));
}

}  // namespace

void bind_transfers(py::module_& module) {
  bind_relaxation(module);
  module.def(
      "transfers_bound",
      [](const Instance& instance, const py::tuple& relaxation, double windows_makespan,
         const py::tuple& windows_stages, std::optional<double> upper) -> py::tuple {
        const proof::WindowsCertificate windows =
            to_windows(relaxation, windows_makespan, windows_stages);
        proof::BoundOptions options;
        options.upper = upper;
        proof::TransfersBound found =
            released([&] { return proof::transfers_bound(instance, windows, options); });
        const py::tuple proof =
            refutation_tuple(std::move(found.certificate.refutation), instance.types());
        return py::make_tuple(found.value, found.complete, proof[0], proof[1], proof[2],
                              found.failure);
      },
      py::arg("instance"), py::arg("relaxation"), py::arg("windows_makespan"),
      py::arg("windows_stages"), py::arg("upper"));
  module.def(
      "certified_transfers",
      [](const Instance& instance, const py::tuple& relaxation, double windows_makespan,
         const py::tuple& windows_stages, double makespan, const py::tuple& stages, bool clusters) {
        proof::TransfersCertificate certificate{
            to_windows(relaxation, windows_makespan, windows_stages), {makespan, {}, clusters}};
        for (const py::handle stage : stages)
          certificate.refutation.stages.push_back(to_transfer_stage(stage.cast<py::tuple>()));
        return released([&] { return check::certified_bound(instance, certificate); });
      },
      py::arg("instance"), py::arg("relaxation"), py::arg("windows_makespan"),
      py::arg("windows_stages"), py::arg("makespan"), py::arg("stages"), py::arg("clusters"));
}

}  // namespace cosched::dags::bindings
