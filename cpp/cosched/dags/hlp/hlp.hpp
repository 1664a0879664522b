// LP* by the method of choice.
#pragma once

#include "cosched/dags/hlp/solution.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

enum class Method {
  structured,   // area proof, then time-cost trade-off flows: exact to 1e-9, any Q
  glpk,         // the model of solution.hpp, in GLPK: the reference
  glpk_primal,  // the same as glpsol solves it by default, and so as Amaris et al. 2017 did
};

/// Throws SolverError when the method fails, TimeLimit where a limit of the thread ends it.
Solution hlp(const Instance& instance, Method method = Method::structured);

}  // namespace cosched::dags::hlp
