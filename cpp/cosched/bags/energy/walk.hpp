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
  Walk(const Instance& instance, Cut cut) : basis_(instance) {
    if (cut == Cut::long_tasks)
      for (int i = 0; i < instance.types(); ++i)
        for (int j = 0; j < instance.machine_types(); ++j)
          if (instance.count(i) > 0 && instance.allowed(i, j))
            closing_.push_back({instance.etc(i, j), {i, j}});
    std::sort(closing_.begin(), closing_.end(), std::greater<>());
    find_low();
  }

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
  bool next() {
    const double start = low_;
    while (step()) {
      high_ = start;
      find_low();
      if (low_ < high_) {
        stalls_ = 0;
        return true;
      }
    }
    low_ = start;
    return false;
  }

 private:
  using Row = Basis::Row;

  // How far down the basis stays optimal, and why no further.
  void find_low() {
    low_ = 0;
    leaving_ = {};
    const bool lowest = stalls_ > careful_stalls();
    for (const Row& row : basis_.rows()) {
      const double slope = basis_.slope(row);
      if (slope <= 0) continue;
      const double zero = std::min(-basis_.value(row, 0) / slope, high_);
      const bool tie = zero == low_ && !leaving_.none();
      if (zero > low_ || (tie && lowest && basis_.order(row) < basis_.order(leaving_))) {
        low_ = zero;
        leaving_ = row;
      }
    }
    if (next_closing_ < closing_.size() && closing_[next_closing_].first >= low_) {
      low_ = std::min(closing_[next_closing_].first, high_);
      leaving_ = {};
    }
  }

  // The basis just below low_; false where there is none.
  bool step() {
    check_interrupt();
    if (++stalls_ > most_stalls())
      throw SolverError("energy front: no progress below makespan " + to_text(low_));
    if (!leaving_.none()) return basis_.pivot(leaving_, false, stalls_ > careful_stalls());
    if (low_ <= 0) return false;
    close_columns();
    return restore();
  }

  // The columns with ETC_ij = low_ close below it.
  void close_columns() {
    for (; next_closing_ < closing_.size() && closing_[next_closing_].first >= low_;
         ++next_closing_)
      basis_.close(closing_[next_closing_].second.first, closing_[next_closing_].second.second);
  }

  // The basic variable that is furthest from feasible at low_: negative, or in a closed column and
  // not zero.  In a closed column and at zero it still has to leave, last, or it could rise again.
  Row worst_breach(const std::vector<char>& stuck, bool lowest) const {
    Row worst;
    double most = kPivotNoise;
    std::vector<Row> rows = basis_.rows();
    for (const Row& row : basis_.closed_lone_keys()) rows.push_back(row);
    for (const Row& row : rows) {
      if (stuck[basis_.order(row)]) continue;
      const bool closed = basis_.closed(row);
      const double size = closed ? std::max(std::abs(share(row)), 2 * kPivotNoise) : -share(row);
      if (size <= kPivotNoise) continue;
      const bool first = lowest && !worst.none() && basis_.order(row) < basis_.order(worst);
      if (worst.none() || (lowest ? first : size > most)) {
        worst = row;
        most = size;
      }
    }
    return worst;
  }

  // Value at low_ without a unit: a share of T_i, or of the makespan.
  double share(const Row& row) const {
    return basis_.value(row, low_) / (basis_.slack(row) ? low_ : 1);
  }
  // Dual simplex at makespan low_ until there is no breach.  False: infeasible.
  bool restore() {
    const auto columns = static_cast<std::size_t>(basis_.types()) + 1;
    std::vector<char> stuck(columns * basis_.machine_types(), 0);
    for (int round = 0; round < most_stalls(); ++round) {
      check_interrupt();
      const bool lowest = round > careful_stalls();
      Row row = worst_breach(stuck, lowest);
      if (row.none()) return true;
      const double at = share(row);
      if (basis_.closed(row) && std::abs(at) <= kPivotNoise) {
        if (!basis_.pivot(row, true, lowest) && !basis_.pivot(row, false, lowest))
          stuck[basis_.order(row)] = 1;  // always zero
      } else if (!basis_.pivot(row, at > 0, lowest)) {
        return false;
      }
    }
    throw SolverError("energy front: no progress at makespan " + to_text(low_));
  }

  // Pivots without progress before the lowest-number rule takes over, and before giving up.
  int careful_stalls() const { return 2 * (basis_.types() + basis_.machine_types()); }
  int most_stalls() const { return 50 * careful_stalls() + 1000; }

  Basis basis_;
  std::vector<std::pair<double, std::pair<int, int>>> closing_;  // (ETC_ij, (i, j)), falling
  std::size_t next_closing_ = 0;
  Row leaving_;     // what reaches zero at low_; none: a column closes there
  int stalls_ = 0;  // pivots since the makespan last fell
  double high_ = kInfinity, low_ = kInfinity;
};

}  // namespace cosched::bags::energy
