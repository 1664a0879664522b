// LP* by the method of choice.
#pragma once

#include "cosched/dags/hlp/hlp_solution.hpp"

namespace cosched::dags::hlp {

enum class HlpMethod {
  structured,   ///< area proof, then time-cost trade-off flows: exact to 1e-9, any Q
  glpk,         ///< hlp_model() in GLPK, by the dual simplex: the reference
  glpk_primal,  ///< the same by GLPK's default, the primal simplex, as Amaris et al. 2017 did
};

/// Solves HLP or QHLP.  Throws SolverError where the method fails, and TimeLimit where a time limit
/// of the thread ends it.
HlpSolution hlp(const Instance& instance, HlpMethod method = HlpMethod::structured);

}  // namespace cosched::dags::hlp
