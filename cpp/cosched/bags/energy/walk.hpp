// The relaxation (6) of Li et al. 2016 for *every* makespan at once: a parametric dual simplex.
//
//   D(MS) = min sum_ij joules(i, j) x_ij
//           sum_j x_ij = T_i,   sum_i x_ij ETC_ij <= M_j MS,   x >= 0,
//           x_ij = 0 where ETC_ij > MS (Cut::long_tasks)
//
// At a large makespan the optimal basis is trivial: each task type on its thriftiest machine type,
// all load rows slack.  As MS falls, a basic variable reaches zero; one dual simplex pivot there
// gives the basis that is optimal just below.  Between pivots x is linear in MS, so D is piecewise
// linear; where MS falls below an ETC_ij the column closes and D may jump up.  The walk ends where
// no x is left: at the least makespan of the relaxation.
//
// The dual simplex of a library from one such makespan to the next, its basis kept and told where
// they are, takes 17 to 22 times as long with GLPK and 59 to 92 times with HiGHS, at 30 x 9 to
// 1000 x 10 types (build/bench/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py).
#pragma once

#include <utility>
#include <vector>

#include "cosched/bags/energy/basis.hpp"

namespace cosched::bags::energy {

enum class Cut {
  none,        // as Tarplee et al.: D is convex
  long_tasks,  // x_ij = 0 where ETC_ij > MS, as Li et al.
};

/// Position on the walk: a basis, optimal for low() <= makespan <= high().
class Walk {
 public:
  /// Starts at the piece that reaches up to infinity.  Keeps a reference to the instance.
  Walk(const Instance& instance, Cut cut);

  double high() const { return high_; }  // a limit from below where a column closed there
  double low() const { return low_; }

  /// D(makespan) and the basic solution x.  Require low() <= makespan <= high().
  double joules(double makespan) const { return basis_.joules(makespan); }
  Table solution(double makespan) const { return basis_.solution(makespan); }

  /// Joules that a second on a machine of each type is worth: -dD/dMS = sum_j M_j prices[j].
  std::vector<double> prices() const { return basis_.prices(); }

  /// The next piece down, of positive length.  False where the relaxation is infeasible below
  /// low(): the walk is over.  Throws SolverError when rounding errors make the simplex stall.
  /// A pivot: O(T M + M^2).
  bool next();

 private:
  void find_low();
  bool step();
  void close_columns();
  Basis::Row worst_breach(const std::vector<char>& stuck, bool lowest) const;
  double share(const Basis::Row& row) const;
  bool restore();
  // Pivots without progress before the lowest-number rule takes over, and before giving up.
  int careful_stalls() const { return 2 * (basis_.types() + basis_.machine_types()); }
  int most_stalls() const { return 50 * careful_stalls() + 1000; }

  Basis basis_;
  std::vector<std::pair<double, std::pair<int, int>>> closing_;  // (ETC_ij, (i, j)), falling
  std::size_t next_closing_ = 0;
  Basis::Row leaving_;  // what reaches zero at low_; none: a column closes there
  int stalls_ = 0;      // pivots since the makespan last fell
  double high_ = kInfinity, low_ = kInfinity;
};

}  // namespace cosched::bags::energy
