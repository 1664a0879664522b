#include <optional>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/relaxation.hpp"
#include "cosched/dags/check/transfers.hpp"
#include "cosched/dags/check/windows.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/model.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/dags/proof/transfers_relaxation.hpp"
#include "cosched/dags/proof/windows.hpp"
#include "dags_certificates.hpp"

namespace cosched::dags::bindings {
namespace {

void bind_hlp(py::module_& module) {
  module.def(
      "hlp",
      [](const Instance& instance, const std::string& method) {
        const hlp::Method chosen = method == "glpk"          ? hlp::Method::glpk
                                   : method == "glpk-primal" ? hlp::Method::glpk_primal
                                                             : hlp::Method::structured;
        return solution_dict(released([&] { return hlp::hlp(instance, chosen); }));
      },
      py::arg("instance"), py::arg("method"));
  module.def(
      "hlp_so_far",
      [](const Instance& instance) {
        return solution_dict(released([&] { return hlp::hlp_so_far(instance); }));
      },
      py::arg("instance"));
  module.def(
      "hlp_model", [](const Instance& instance) { return model_dict(hlp::hlp_model(instance)); },
      py::arg("instance"));
  module.def(
      "hlp_from_lp",
      [](const Instance& instance, double objective, const RealArray& x, const RealArray& dual) {
        lp::Solution solution;
        solution.status = lp::Status::optimal;
        solution.objective = objective;
        solution.x = to_reals(x);
        solution.dual = to_reals(dual);
        const lp::Model model = hlp::hlp_model(instance);
        if (static_cast<int>(solution.x.size()) != model.columns() ||
            static_cast<int>(solution.dual.size()) != model.rows())
          throw InvalidInstance("hlp_from_lp: expected a value a column and a price a row");
        return solution_dict(hlp::hlp_from_lp(instance, solution));
      },
      py::arg("instance"), py::arg("objective"), py::arg("x"), py::arg("dual"));
  module.def(
      "certified_bound",
      [](const Instance& instance, const py::dict& certificate) {
        const hlp::Certificate proof = to_certificate(certificate);
        return released([&] { return check::certified_bound(instance, proof); });
      },
      py::arg("instance"), py::arg("certificate"));
  module.def(
      "round_allocation",
      [](const RealArray& times, const RealArray& x, double threshold) {
        return int_array(hlp::round_allocation(to_table(times), to_table(x), threshold));
      },
      py::arg("times"), py::arg("x"), py::arg("threshold"));
  module.def(
      "area_bound",
      [](const Instance& instance) { return released([&] { return hlp::area_bound(instance); }); },
      py::arg("instance"));
  module.def(
      "memory_bound",
      [](const Instance& instance) {
        return released([&] { return hlp::memory_bound(instance); });
      },
      py::arg("instance"));
  module.def(
      "critical_path_bound",
      [](const Instance& instance) {
        return released([&] { return hlp::critical_path_bound(instance); });
      },
      py::arg("instance"));
}

// value and complete besides the refutation.
template <class Bound>
py::dict bound_dict(const Bound& found, py::dict refutation) {
  refutation["value"] = found.value;
  refutation["complete"] = found.complete;
  refutation["failure"] = found.failure;
  return refutation;
}

void bind_windows(py::module_& module) {
  module.def(
      "windows_bound",
      [](const Instance& instance, const py::dict& relaxation, std::optional<double> upper) {
        const hlp::Certificate proof = to_certificate(relaxation);
        proof::BoundOptions options;
        options.upper = upper;
        proof::WindowsBound found =
            released([&] { return proof::windows_bound(instance, proof, options); });
        return bound_dict(found, refutation_dict(std::move(found.certificate.refutation)));
      },
      py::arg("instance"), py::arg("relaxation"), py::arg("upper"));
  module.def(
      "certified_windows",
      [](const Instance& instance, const py::dict& certificate) {
        const proof::WindowsCertificate proof = to_windows(certificate);
        return released([&] { return check::certified_bound(instance, proof); });
      },
      py::arg("instance"), py::arg("certificate"));
}

void bind_transfers(py::module_& module) {
  module.def(
      "transfers_bound",
      [](const Instance& instance, const py::dict& windows, std::optional<double> upper) {
        const proof::WindowsCertificate proof = to_windows(windows);
        proof::BoundOptions options;
        options.upper = upper;
        proof::TransfersBound found =
            released([&] { return proof::transfers_bound(instance, proof, options); });
        return bound_dict(
            found, refutation_dict(std::move(found.certificate.refutation), instance.types()));
      },
      py::arg("instance"), py::arg("windows"), py::arg("upper"));
  module.def(
      "certified_transfers",
      [](const Instance& instance, const py::dict& certificate) {
        const proof::TransfersCertificate proof = to_transfers(certificate);
        return released([&] { return check::certified_bound(instance, proof); });
      },
      py::arg("instance"), py::arg("certificate"));
}

// value, x, C besides the refutation that its prices are.
py::dict relaxation_dict(proof::TransfersRelaxation found) {
  const py::ssize_t n = found.x.rows(), types = found.x.cols();
  py::dict made = refutation_dict(std::move(found.refutation), static_cast<int>(types));
  made["value"] = found.value;
  made["x"] = frozen(std::move(found.x), {n, types});
  made["C"] = frozen(std::move(found.completion));
  return made;
}

void bind_relaxation(py::module_& module) {
  module.def(
      "transfers_relaxation",
      [](const Instance& instance, const std::string& method) {
        const hlp::Method chosen = method == "glpk" ? hlp::Method::glpk : hlp::Method::structured;
        return relaxation_dict(
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
        return relaxation_dict(proof::transfers_from_lp(instance, values, prices));
      },
      py::arg("instance"), py::arg("x"), py::arg("dual"));
}

}  // namespace

void bind_bounds(py::module_& module) {
  bind_hlp(module);
  bind_windows(module);
  bind_transfers(module);
  bind_relaxation(module);
}

}  // namespace cosched::dags::bindings
