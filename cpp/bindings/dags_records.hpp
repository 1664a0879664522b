// Solutions, bounds and certificates of the family dags as dicts.
#pragma once

#include <array>

#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/lp/model.hpp"
#include "records.hpp"

namespace cosched::dags::hlp {

template <class Visit>
void fields(Certificate& certificate, const Visit& visit) {
  visit("weights", certificate.weights);
  visit("task_flow", certificate.task_flow);
  visit("edge_flow", certificate.edge_flow);
}

template <class Visit>
void fields(Solution& solution, const Visit& visit) {
  visit("value", solution.value);
  visit("x", solution.x);
  visit("C", solution.completion);
  visit("certificate", solution.certificate);
  visit("complete", solution.complete);
  visit("failure", solution.failure);
}

}  // namespace cosched::dags::hlp

namespace cosched::dags::proof {

inline std::array<double, 4> row_of(const PricedInterval& row) {
  return {static_cast<double>(row.interval.type), row.interval.begin, row.interval.end, row.price};
}
inline PricedInterval from_row(const std::array<double, 4>& row, const PricedInterval*) {
  return {{static_cast<int>(row[0]), row[1], row[2]}, row[3]};
}

/// Whether of an edge; task or edge; type or way.
inline std::array<int, 3> row_of(const TransferGuess& row) {
  return {static_cast<int>(row.of_edge), row.item, row.choice};
}
inline TransferGuess from_row(const std::array<int, 3>& row, const TransferGuess*) {
  return {row[0] != 0, row[1], row[2]};
}

template <class Visit>
void fields(RefutationStage& stage, const Visit& visit) {
  visit("raise_heads", stage.raise);
  visit("loads", stage.loads);
  visit("task_flow", stage.task_flow);
  visit("edge_flow", stage.edge_flow);
  visit("intervals", stage.intervals);
}

template <class Visit>
void fields(TransferStage& stage, const Visit& visit) {
  visit("raise_heads", stage.raise);
  visit("loads", stage.loads);
  visit("task_flow", stage.task_flow);
  visit("edge_flow", stage.edge_flow);
  visit("shift", stage.shift);
  visit("intervals", stage.intervals);
  visit("guesses", stage.guesses);
}

template <class Visit>
void fields(Refutation& refutation, const Visit& visit) {
  visit("makespan", refutation.makespan);
  visit("stages", refutation.stages);
}

template <class Visit>
void fields(TransferRefutation& refutation, const Visit& visit) {
  visit("makespan", refutation.makespan);
  visit("stages", refutation.stages);
  visit("clusters", refutation.clusters);
}

template <class Visit>
void fields(WindowsCertificate& certificate, const Visit& visit) {
  visit("relaxation", certificate.relaxation);
  fields(certificate.refutation, visit);
}

template <class Visit>
void fields(TransfersCertificate& certificate, const Visit& visit) {
  visit("windows", certificate.windows);
  fields(certificate.refutation, visit);
}

/// Without what the bound began with, which the caller has.
template <class Certificate, class Visit>
void fields(ProvenBound<Certificate>& bound, const Visit& visit) {
  fields(bound.certificate.refutation, visit);
  visit("value", bound.value);
  visit("complete", bound.complete);
  visit("failure", bound.failure);
}

template <class Visit>
void fields(TransfersRelaxation& relaxation, const Visit& visit) {
  fields(relaxation.refutation, visit);
  visit("value", relaxation.value);
  visit("x", relaxation.x);
  visit("C", relaxation.completion);
}

}  // namespace cosched::dags::proof

namespace cosched::lp {

/// A model's arrays, for a back end in Python.
inline bindings::py::dict in_python(const Model& model) {
  using namespace bindings;  // NOLINT
  Ints row, col;
  Reals value;
  for (const Entry& entry : model.entries) {
    row.push_back(entry.row);
    col.push_back(entry.col);
    value.push_back(entry.value);
  }
  return py::dict("cost"_a = array_of(model.cost), "lower"_a = array_of(model.lower),
                  "upper"_a = array_of(model.upper), "row_lower"_a = array_of(model.row_lower),
                  "row_upper"_a = array_of(model.row_upper), "row"_a = row, "col"_a = col,
                  "value"_a = value);
}

}  // namespace cosched::lp

namespace cosched::dags::bindings {

using namespace cosched::bindings;  // NOLINT

/// HLP, `windows`, `transfers`, their relaxations and certificates.
void bind_bounds(py::module_& module);

}  // namespace cosched::dags::bindings
