// Times of the order of 1, for methods with tolerances.
#pragma once

#include <functional>

#include "cosched/dags/hlp/solution.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// A solution of `solve` for the instance.  Where its bound is far from 1 (below 2^-20, above 2^20)
/// `solve` sees all times divided by a power of two, which rounds nothing; certificates have no unit.
Solution at_ordinary_scale(const Instance& instance,
                           const std::function<Solution(const Instance&)>& solve);

}  // namespace cosched::dags::hlp
