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

struct EnergyRelaxation {
  bool is_feasible = false;
  double joules = kInfinity;  // D, without what idle machines draw
  Table x;                    // T x M, a basic solution; empty where infeasible
};

/// The relaxation (6) for this makespan (and the power cap).  A makespan below the least one by
/// less than kExactTolerance, relative, is the least one.
/// Throws InvalidInstance where makespan is not positive and finite.
EnergyRelaxation solve_relaxation(const Instance& instance, double makespan);

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

}  // namespace cosched::bags::energy
