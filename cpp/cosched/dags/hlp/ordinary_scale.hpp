// Times of the order of 1, for methods with tolerances.
#pragma once

#include <functional>

#include "cosched/dags/hlp/hlp_solution.hpp"

namespace cosched::dags::hlp {

/// Calls `solve` with the instance, or, where its critical path is below 2^-20 or above 2^20, with
/// all times divided by a power of two, which rounds nothing; scales the solution back.
/// Certificates have no unit.
HlpSolution at_ordinary_scale(const Instance& instance,
                              const std::function<HlpSolution(const Instance&)>& solve);

}  // namespace cosched::dags::hlp
