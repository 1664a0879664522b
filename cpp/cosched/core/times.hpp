// Execution times of n tasks on 1..p processors: t_i(q) = times(i, q).
#pragma once

#include <Eigen/Core>
#include <vector>

namespace cosched {

/// Row-major: a row is one task's profile, contiguous in memory.
using Table = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Immutable table of execution times in seconds.  Invariant: n >= 1, p >= 1,
/// every entry finite and > 0.  Monotony is not an invariant: see require_monotone.
class Times {
 public:
  /// Throws InvalidInstance with row, column and value of the first bad entry.
  explicit Times(Table table);

  int tasks() const { return static_cast<int>(table_.rows()); }
  int procs() const { return static_cast<int>(table_.cols()); }

  /// t_i(q), q = 1..p.
  double operator()(int i, int q) const { return row(i)[q - 1]; }
  /// w_i(q) = q t_i(q).
  double work(int i, int q) const { return q * row(i)[q - 1]; }
  /// row(i)[q-1] = t_i(q).
  const double* row(int i) const {
    return table_.data() + static_cast<Eigen::Index>(i) * table_.cols();
  }
  const Table& table() const { return table_; }

 private:
  Table table_;
};

/// Property (1): t_i(q+1) <= t_i(q).  Property (2): w_i(q+1) >= w_i(q).
enum class Monotone { times, times_and_work };

/// Throws InvalidInstance that names the first breach (row, later column), with
/// kMonotoneTolerance.  O(n p).
void require_monotone(const Times& times, Monotone what);

/// Repair of any table of positive times: first (1), by never using more
/// processors than the best so far; then (2), by raising t_i(q+1) to
/// q t_i(q) / (q+1) where it is super-linear.  O(n p).
Table monotone(const Table& times);

}  // namespace cosched
