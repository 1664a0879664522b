// Lower bound on the minsum sum_i w_i C_i: the exact optimum of a linear programme over time
// intervals (section 3.3).
//
// Notation = code: interval j is (grid[j], grid[j+1]], the last one (grid[J], infinity); J =
// intervals with an end; x_ij = the part of job i that ends in interval j; S_ij = area(i, j);
// c_ij = cost(i, j).
#pragma once

#include "cosched/lp/model.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::minsum {

struct MinsumOptions {
  /// Ends of intervals, increasing, > 0; a leading 0 is the same without.  None: the paper's grid
  /// C/2^K, ..., C, 2C (default_grid).
  std::optional<std::vector<double>> grid;
  /// Cuts each interval of the grid into this many.
  int refine = 1;
  /// Costs w_i max(grid[j], r_i + min_q t_i(q)) instead of the paper's w_i grid[j].
  bool tight = true;
};

/// The programme as data:
///   minimise sum c_ij x_ij
///   part(i)     sum_j x_ij >= 1                                       for each job i
///   surface(j)  sum_{l<=j} sum_i S_il x_il <= m grid[j+1]             for j < J
/// S_ij = the least area of job i when it ends by grid[j+1] (r_i later at the earliest), infinite
/// where it cannot; in the last interval, of any length, 0: it has no surface row.
///
/// Its value is a bound.  Take any schedule, and x_ij = 1 for the interval in which job i ends.  A
/// job that ends in interval j starts at r_i or later, so runs at most grid[j+1] - r_i and holds at
/// least S_ij; the jobs that end by grid[j+1] do so between times 0 and grid[j+1] on m processors:
/// surface(j).  Each C_i is at least grid[j] and at least r_i + min_q t_i(q), so the objective is
/// at most sum w_i C_i. That needs an interval from 0 and one without end.  (The paper's last
/// interval ends at C: no bound, since optimal minsum schedules may be longer.  An interval (C, 2C]
/// with its surface row, C the length of a schedule that was built, gives the same value as one
/// without end: the jobs that are late can be run as in that schedule, in area m C.)  A grid that
/// contains another gives no smaller bound: sums of the finer x satisfy the coarser rows, at no
/// more cost.
class IntervalModel {
 public:
  /// Throws InvalidInstance for a grid that is empty, not increasing, or not positive and finite,
  /// or so fine that the tables would not fit (2,000 intervals, 5e7 columns).  O(n J log m).
  IntervalModel(const Instance& instance, const std::vector<double>& grid, bool tight);

  int jobs() const { return static_cast<int>(first_interval_.size()); }
  int intervals() const { return static_cast<int>(capacity_.size()); }  // J: those with an end
  int columns() const { return intervals() + 1; }

  /// First interval in which job i can end.
  int first_interval(int i) const { return first_interval_[i]; }
  const double* cost(int i) const { return &cost_[static_cast<std::size_t>(i) * columns()]; }
  const double* area(int i) const { return &area_[static_cast<std::size_t>(i) * columns()]; }
  /// m (grid[j+1] - grid[j]).
  double capacity(int j) const { return capacity_[j]; }

 private:
  std::vector<double> cost_, area_, capacity_;
  std::vector<int> first_interval_;
};

/// The paper's grid: C/2^K, ..., C, 2C with C = default_horizon (plus the last release) and K =
/// floor(log2(C / t_min)), at most 60.
std::vector<double> make_default_grid(const Instance& instance);

/// `grid` with each interval (the first from 0) cut into `parts` equal ones.
std::vector<double> refine_grid(const std::vector<double>& grid, int parts);

/// The grid and the programme that the options describe.
IntervalModel make_model(const Instance& instance, const MinsumOptions& options = {});

/// The bound of a price of surface per interval (J non-increasing values >= 0): the Lagrangian
///   sum_i min_j (c_ij + S_ij price_j) - sum_j capacity_j price_j.  O(n J).
double lagrangian(const IntervalModel& model, const std::vector<double>& price);

/// What solves the programme: primal and dual values agree (to kExactTolerance).
struct MinsumSolution {
  double value = 0;   // of the multipliers: certainly a bound, whatever rounding did
  double primal = 0;  // of x
  std::vector<double>
      price;  // of surface in interval j: sum of the multipliers of rows j, j+1, ...
  int pivots = 0;
};

/// Exact optimum by a simplex method that knows the structure (basis.hpp): n + J rows, but a
/// basis of J x J.  A step costs O(J^2) and the pricing of a block of jobs.
MinsumSolution solve(const IntervalModel& model);

/// The bound: solve(make_model(instance, options)).value.
double bound(const Instance& instance, const MinsumOptions& options = {});

/// The programme as the paper writes it, for any LP solver, scaled for absolute tolerances: costs
/// in units of `unit`, a surface row over its right-hand side.  Surface rows come first.  Throws
/// InvalidInstance above 2e7 coefficients (about n J^2 / 2).
struct ScaledLp {
  lp::Model model;
  double unit = 1;
};

ScaledLp to_lp(const IntervalModel& model);

/// The reference for solve: the programme by GLPK's dual simplex; the value is that of its
/// multipliers (lagrangian), so a bound as well.
double bound_by_glpk(const Instance& instance, const MinsumOptions& options = {});

}  // namespace cosched::moldable::minsum
