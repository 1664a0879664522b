// Certificates of the family dags as dicts of arrays: keys are the names of the fields of their classes
// in Python.  Arrays that go out are read-only.
#pragma once

#include <vector>

#include "certificates.hpp"
#include "cosched/dags/hlp/solution.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/lp/model.hpp"

namespace cosched::dags::bindings {

using namespace cosched::bindings;  // NOLINT

/// weights, task_flow, edges, edge_flow.
py::dict certificate_dict(hlp::Certificate certificate);
hlp::Certificate to_certificate(const py::dict& given);

/// value, x, C, certificate, complete.
py::dict solution_dict(hlp::Solution solution);

/// makespan, stages; each stage raise_heads, loads, task_flow, edges, edge_flow, intervals.
py::dict refutation_dict(proof::Refutation refutation);
/// The same and relaxation.
proof::WindowsCertificate to_windows(const py::dict& given);

/// makespan, stages, clusters; each stage raise_heads, loads, task_flow, edge_flow, shift, intervals,
/// guesses.
py::dict refutation_dict(proof::TransferRefutation refutation, int types);
/// The same and windows.
proof::TransfersCertificate to_transfers(const py::dict& given);

/// A model's arrays, for a back end in Python.
py::dict model_dict(const lp::Model& model);

/// HLP, `windows`, `transfers`, their relaxations and certificates.
void bind_bounds(py::module_& module);

}  // namespace cosched::dags::bindings
