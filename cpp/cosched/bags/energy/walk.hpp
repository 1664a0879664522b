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
// 1000 x 10 types (build/release/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py).
#pragma once

#include <functional>

#include "cosched/bags/energy/basis.hpp"
#include "cosched/core/interrupt.hpp"

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

  // D jumps there where a column closes: the value is the limit from below
  double high() const { return high_; }
  double low() const { return low_; }

  /// D(makespan) and the basic solution x.  Require low() <= makespan <= high().
  double joules(double makespan) const { return basis_.joules(makespan); }
  Table solution(double makespan) const { return basis_.solution(makespan); }

  /// Joules that a second on a machine of each type is worth: -dD/dMS = sum_j M_j prices[j].
  std::vector<double> prices() const { return basis_.prices(); }

  /// Goes to the next piece down, which has positive length.  Returns false where the relaxation is
  /// infeasible below low(): the walk is over.  Throws SolverError when rounding errors make the
  /// simplex stall.  O(T M + M^2) a pivot.
  bool go_to_next_piece();

 private:
  using BasicVariable = MakespanBasis::BasicVariable;

  // Finds how far down the basis stays optimal, and the variable that leaves it there.
  void find_piece_end();

  // Goes to the basis just below low_; returns false where there is none.
  bool take_pivot();

  // Closes the columns with ETC_ij = low_.
  void close_columns() {
    for (; next_closing_column_ < closing_columns_.size() &&
           closing_columns_[next_closing_column_].first >= low_;
         ++next_closing_column_)
      basis_.close_column(closing_columns_[next_closing_column_].second.first,
                          closing_columns_[next_closing_column_].second.second);
  }

  // The basic variable that is furthest from feasible at low_: negative, or in a closed column and
  // not zero.  In a closed column and at zero it still has to leave, last, or it could rise again.
  BasicVariable find_worst_infeasibility(const std::vector<char>& stuck, bool lowest) const;

  // The value at low_ without a unit: a share of T_i, or of the makespan.
  double relative_value(const BasicVariable& row) const {
    return basis_.value(row, low_) / (basis_.is_slack(row) ? low_ : 1);
  }
  // Takes dual simplex steps at makespan low_ until the basis is feasible; returns false where
  // there is no feasible one.
  bool restore_feasibility();

  // Pivots without progress before the lowest-number rule takes over, and before giving up.
  int max_careful_stalls() const { return 2 * (basis_.types() + basis_.machine_types()); }
  int max_stalls() const { return 50 * max_careful_stalls() + 1000; }

  MakespanBasis basis_;
  std::vector<std::pair<double, std::pair<int, int>>>
      closing_columns_;  // (ETC_ij, (i, j)), falling
  std::size_t next_closing_column_ = 0;
  BasicVariable leaving_variable_;  // reaches zero at low_; is_none(): a column closes there
  int stalled_pivots_ = 0;          // pivots since the makespan last fell
  double high_ = kInfinity, low_ = kInfinity;
};

}  // namespace cosched::bags::energy
