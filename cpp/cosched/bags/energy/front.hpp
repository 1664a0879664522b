// The relaxation for one makespan, for all of them (the energy-makespan front), and the bound on
// the profit rate that follows.
#pragma once

#include "cosched/bags/energy/walk.hpp"

namespace cosched::bags::energy {

/// Calls `visit(walk, low)` for each piece of the walk from the largest makespans down, until it
/// returns false; low >= walk.low() is the least makespan of the piece that respects the power cap.
void visit_pieces(const Instance& instance, Cut cut,
                  const std::function<bool(const Walk& walk, double low)>& visit);

/// A vertex of the front: least dynamic energy for a makespan.
struct FrontPoint {
  double makespan, joules;
};

/// The front by rising makespan, up to the makespan from which least_joules() is reached.  D is
/// linear between neighbours; where two have the same makespan it jumps, and the second holds
/// there.  The first point is the least makespan of the relaxation.
/// O(T M + M^2) a vertex.
std::vector<FrontPoint> energy_front(const Instance& instance, Cut cut);

/// D(makespan) on such a front; infinity below its first point.  O(log vertices).
double joules_at(const std::vector<FrontPoint>& front, double makespan);

/// Least makespan of the relaxation with x_ij = 0 where ETC_ij > MS, under the power cap: LB of
/// TTB.
double least_makespan(const Instance& instance);

struct Relaxation {
  bool feasible = false;
  double joules = kInfinity;  // D, without what idle machines draw
  Table x;                    // T x M, a basic solution; empty where infeasible
};

/// The relaxation (6) for this makespan (and the power cap).  A makespan below the least one by
/// less than kExactTolerance, relative, is the least one.
/// Throws InvalidInstance where makespan is not positive and finite.
Relaxation relaxation(const Instance& instance, double makespan);

/// The best profit rate of the relaxation over all makespans, and where it is: the maximum of
/// (p - c D(MS))/MS lies at a vertex, since it is monotone between.  Where p < c E_min the rate
/// rises with the makespan towards 0: makespan is infinite then.
struct BestRate {
  double makespan = kInfinity;
  double rate = 0;  // less c I, what the idle machines cost
};

/// An upper bound on the profit rate of every schedule.  Cut::none: the value of the linear
/// programme of Tarplee et al. 2014 in z = x/MS, r = 1/MS.  Cut::long_tasks is never above it.
BestRate best_rate(const Instance& instance, Cut cut);

// The two linear programmes as the papers have them, each solved anew by GLPK: the reference that
// the parametric walk (walk.hpp) is checked and measured against.

/// The relaxation (6) for this makespan; as relaxation(), by the dual simplex without presolve.
Relaxation relaxation_lp(const Instance& instance, double makespan);

struct ProfitLp {
  double rate = 0;              // of the relaxation, less c I
  double makespan = kInfinity;  // 1/r; infinity where r = 0 is optimal (p <= c E_min)
  Table x;                      // z/r; empty where r = 0
};

/// Tarplee et al. 2014: max p r - c sum joules z  s.t.  sum_j z_ij = T_i r,
/// sum_i z_ij ETC_ij <= M_j, sum joules z <= P - I;  z = x/MS, r = 1/MS.
ProfitLp profit_lp(const Instance& instance);

}  // namespace cosched::bags::energy
