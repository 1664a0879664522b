// The classes of a trace of the simulator of Slurm.
#pragma once

#include "cosched/slurm/trace/trace_recorder.hpp"
#include "pybind.hpp"

namespace cosched::slurm::bindings {

using namespace cosched::bindings;  // NOLINT

void bind_slurm_trace(py::module_& module);

}  // namespace cosched::slurm::bindings
