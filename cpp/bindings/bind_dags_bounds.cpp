#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/model.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/dags/proof/windows.hpp"
#include "dags_records.hpp"

namespace cosched::dags::bindings {
namespace {

// A solution of a model from a back end in Python.
lp::Solution to_solution(const lp::Model& model, double objective, const Reals& x,
                         const Reals& dual) {
  if (static_cast<int>(x.size()) != model.columns() ||
      static_cast<int>(dual.size()) != model.rows())
    throw InvalidInstance("from_lp: expected a value a column and a price a row");
  lp::Solution solution;
  solution.status = lp::Status::optimal;
  solution.objective = objective;
  solution.x = x;
  solution.dual = dual;
  return solution;
}

// The check of one kind of certificate.
template <class Certificate>
void def_check(py::module_& module, const char* name) {
  using Check = double (*)(const Instance&, const Certificate&);
  def(module, name, static_cast<Check>(&check::certified_bound), "instance"_a, "certificate"_a);
}

void bind_hlp(py::module_& module) {
  def_names<hlp::Method>(module, "Method",
                         {{"structured", hlp::Method::structured},
                          {"glpk", hlp::Method::glpk},
                          {"glpk_primal", hlp::Method::glpk_primal}});
  def(module, "hlp", &hlp::hlp, "instance"_a, "method"_a);
  def(module, "hlp_so_far", &hlp::hlp_so_far, "instance"_a);
  module.def("hlp_model", &hlp::hlp_model, "instance"_a);
  module.def(
      "hlp_from_lp",
      [](const Instance& instance, double objective, const Reals& x, const Reals& dual) {
        return hlp::hlp_from_lp(instance,
                                to_solution(hlp::hlp_model(instance), objective, x, dual));
      },
      "instance"_a, "objective"_a, "x"_a, "dual"_a);
  def_check<hlp::Certificate>(module, "certified_bound");
  module.def("round_allocation", crossing(&hlp::round_allocation), "times"_a, "x"_a, "threshold"_a);
  def(module, "area_bound", &hlp::area_bound, "instance"_a);
  def(module, "memory_bound", &hlp::memory_bound, "instance"_a);
  def(module, "critical_path_bound", &hlp::critical_path_bound, "instance"_a);
}

void bind_refutations(py::module_& module) {
  def(
      module, "windows_bound",
      [](const Instance& instance, const hlp::Certificate& relaxation,
         std::optional<double> upper) {
        return proof::windows_bound(instance, relaxation, {upper});
      },
      "instance"_a, "relaxation"_a, "upper"_a);
  def_check<proof::WindowsCertificate>(module, "certified_windows");
  def(
      module, "transfers_bound",
      [](const Instance& instance, const proof::WindowsCertificate& windows,
         std::optional<double> upper) {
        return proof::transfers_bound(instance, windows, {upper});
      },
      "instance"_a, "windows"_a, "upper"_a);
  def_check<proof::TransfersCertificate>(module, "certified_transfers");
  def(module, "transfers_relaxation", &proof::transfers_relaxation, "instance"_a, "method"_a);
  module.def("transfers_model", &proof::transfers_model, "instance"_a);
  module.def(
      "transfers_from_lp",
      [](const Instance& instance, const Reals& x, const Reals& dual) {
        const lp::Solution found = to_solution(proof::transfers_model(instance), 0, x, dual);
        return proof::transfers_from_lp(instance, found.x, found.dual);
      },
      "instance"_a, "x"_a, "dual"_a);
}

}  // namespace

void bind_bounds(py::module_& module) {
  bind_hlp(module);
  bind_refutations(module);
}

}  // namespace cosched::dags::bindings
