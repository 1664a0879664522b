// Certificates of the family dags as tuples of arrays, for both files of its bindings.
#pragma once

#include <vector>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/lp/model.hpp"
#include "pybind.hpp"

namespace cosched::dags::bindings {

using namespace cosched::bindings;  // NOLINT

/// From (weights, task flow, edges, flow on them).
hlp::Certificate to_certificate(const py::tuple& given);

/// From a certificate of LP*, the makespan that is refuted, and (raise, loads, task flow, edges, flow
/// on them, intervals) each stage.
proof::WindowsCertificate to_windows(const py::tuple& relaxation, double makespan,
                                     const py::tuple& stages);

/// A row (type, begin, end, price) each interval; the array is read-only.
py::object intervals_array(const std::vector<proof::PricedInterval>& intervals);
std::vector<proof::PricedInterval> to_intervals(const py::handle& rows);

/// A model's arrays, for a back end in Python.
py::dict model_dict(const lp::Model& model);

/// `transfers`, its relaxation and their certificates.
void bind_transfers(py::module_& module);

}  // namespace cosched::dags::bindings
