// The two linear programmes as the papers have them, each solved anew by GLPK: the reference that
// the parametric walk (walk.hpp) is checked and measured against.
#pragma once

#include "cosched/bags/energy/front.hpp"

namespace cosched::bags::energy {

/// The relaxation (6) for this makespan; as relaxation(), by the dual simplex without presolve.
EnergyRelaxation solve_relaxation_by_glpk(const Instance& instance, double makespan);

struct ProfitLp {
  double rate = 0;              // of the relaxation, less c I
  double makespan = kInfinity;  // 1/r; infinity where r = 0 is optimal (p <= c E_min)
  Table x;                      // z/r; empty where r = 0
};

/// Tarplee et al. 2014: max p r - c sum joules z  s.t.  sum_j z_ij = T_i r,
/// sum_i z_ij ETC_ij <= M_j, sum joules z <= P - I;  z = x/MS, r = 1/MS.
ProfitLp solve_profit_by_glpk(const Instance& instance);

}  // namespace cosched::bags::energy
