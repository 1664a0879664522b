// Execution times of n tasks on 1..p processors, as measured.
#pragma once

#include "cosched/core/matrix.hpp"

namespace cosched {

/// A row is one task's profile.
using Table = Matrix<double>;

/// The longest time that is not infinite; 0 if there is none.  O(n p).
double longest_finite(const Table& times);

/// Immutable table of execution times in seconds.  measured_time(i, q) is never changed:
/// infinite where task i cannot run on q processors.  What solvers read is
///
///   t*_i(q) = times(i, q) = min over q' <= q of measured_time(i, q'),
///
/// the best that task i can do when q processors are its own; it does not increase with q
/// (property (1)).  A schedule gives the task used(i, q) <= q processors: those that take t*_i(q).
///
/// Invariant: n >= 1, p >= 1, every entry > 0, at least one finite entry a row.
class Times {
 public:
  /// Throws InvalidInstance with row, column and value of the first bad entry.  O(n p).
  explicit Times(Table measured);

  int tasks() const { return static_cast<int>(best_.rows()); }
  int procs() const { return static_cast<int>(best_.cols()); }

  /// The time as measured, q = 1..p; maybe infinite.
  double measured_time(int i, int q) const { return table()(i, q - 1); }
  const Table& table() const { return measured_.size() > 0 ? measured_ : best_; }

  /// t*_i(q), q = 1..p.
  double operator()(int i, int q) const { return row(i)[q - 1]; }
  /// w*_i(q) = q t*_i(q).
  double work(int i, int q) const { return q * row(i)[q - 1]; }
  /// row(i)[q-1] = t*_i(q).
  const double* row(int i) const { return best_.data() + i * best_.cols(); }
  /// t*_i(p), the least time of task i.
  double least(int i) const { return row(i)[procs() - 1]; }

  /// The greatest q' <= q with measured_time(i, q') = t*_i(q): q itself where no fewer processors are
  /// faster.
  int used(int i, int q) const {
    return used_.empty() ? q : used_[static_cast<std::size_t>(i) * procs() + q - 1];
  }
  /// The fewest processors on which task i can run.  O(log p).
  int fewest(int i) const;

 private:
  Table best_;
  Table measured_;         // empty where it is best_
  std::vector<int> used_;  // likewise: n p entries, or none
};

/// Repair of any table of times: first t*; then work that does not fall with processors (property
/// (2)), by raising t_i(q+1) to q t_i(q) / (q+1) where it is super-linear.  Counts below the first
/// on which a task can run stay infinite.  Throws as Times does.  O(n p).
Table monotone(const Table& times);

}  // namespace cosched
