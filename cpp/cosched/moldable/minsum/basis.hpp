// The basis of the minsum programme (bound.hpp) in a simplex method that knows its
// structure.
//
// Take the differences of neighbouring surface rows: with y_j >= 0 the surface that interval j
// leaves to the next,
//   part(i)     sum_j x_ij = 1
//   surface(j)  sum_i S_ij x_ij + y_j - y_{j-1} = capacity_j          for j < J.
// Each x_ij is in one surface row: a generalised transportation problem.  The part rows are handled
// as generalised upper bounds (Dantzig and Van Slyke): each job has a *key* column in the basis,
// which its part row determines; the other J basic columns are the *slots* of a J x J working
// basis, whose inverse is kept.  A slot holds a y_j, or a second (third, ...) column x_ij of a job
// with key k, whose column there is S_ij e_j - S_ik e_k.
//
// A library from the same first basis, whole or with the columns generated on a warm basis and the
// better of the two: GLPK takes 6 to 12 times as long on the paper's grid (25 to 400 jobs); on one
// eight times finer 2 times for 25 jobs, 3 to 10 times for 100 to 2,000; HiGHS 12 to 19, 3 and 4 to
// 8 times (build/release/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py).
#pragma once

#include "cosched/core/order.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "cosched/opt/inverse.hpp"

namespace cosched::moldable::minsum {

class IntervalBasis {
 public:
  /// x_ij, or y_j where job is -1.  Ordered: the y first.
  struct Column {
    int job, interval;
    bool operator<(const Column& other) const {
      return job != other.job ? job < other.job : interval < other.interval;
    }
  };

  /// Jobs by decreasing weight per area, each into the first interval with room; the slots are the
  /// y_j.
  explicit IntervalBasis(const IntervalModel& model);

  int key_interval(int job) const { return key_interval_[job]; }

  /// Inverse and values anew.  O(J^3 + n).
  void refactor() {
    Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(surface_rows_, surface_rows_);
    for (int p = 0; p < surface_rows_; ++p)
      for_each_entry(slot_columns_[p], [&](int row, double value) { basis(row, p) += value; });
    inverse_ = opt::inverse_of(basis);
    recompute();
  }

  /// Steps since then that changed the inverse.
  int updates_since_refactor() const { return updates_since_refactor_; }

  /// The negative dual value of each surface row.  At the optimum >= 0 and non-increasing.  O(J).
  std::vector<double> prices() const {
    std::vector<double> price(surface_rows_);
    for (int j = 0; j < surface_rows_; ++j) price[j] = -surface_duals_[j] * scale_;
    return price;
  }

  /// Brings a column into the basis; returns its value then, infinite where nothing blocks
  /// it (only rounding can cause that; the basis is then unchanged).  Among equal steps the largest
  /// pivot leaves, or the first column if `first_leaves` (Bland's rule).  O(J^2).
  double enter_column(Column column, bool first_leaves);

  /// Objective of the basic solution.  O(n).
  double objective() const {
    double sum = 0;
    for (int i = 0; i < jobs_; ++i) sum += model_.cost(i)[key_interval_[i]];
    for (int p = 0; p < surface_rows_; ++p) sum += cost_of(slot_columns_[p]) * slot_values_[p];
    return sum;
  }

 private:
  using Vector = Eigen::VectorXd;

  // What blocks a step: a slot, or the key of a job.
  struct BlockingVariable {
    double step = kInfinity, pivot = 0;
    int slot = -1, job = -1;
    Column column{-1, -1};
  };

  double area(int i, int j) const { return model_.area(i)[j] * scale_; }

  void assign_keys();

  // Values and dual values from the inverse.
  void recompute();

  // Calls use(row, coefficient) for the surface rows of a column, of a job's relative to its key.
  template <class Use>
  void for_each_entry(const Column& column, Use use) const {
    const auto [i, j] = column;
    if (i < 0) {
      use(j, 1.0);
      if (j + 1 < surface_rows_) use(j + 1, -1.0);
      return;
    }
    if (j < surface_rows_) use(j, area(i, j));
    if (key_interval_[i] < surface_rows_) use(key_interval_[i], -area(i, key_interval_[i]));
  }

  double cost_of(const Column& column) const {
    const auto [i, j] = column;
    return i < 0 ? 0 : model_.cost(i)[j] - model_.cost(i)[key_interval_[i]];
  }

  double reduced_cost(const Column& column) const {
    double reduced = cost_of(column);
    for_each_entry(column, [&](int row, double value) { reduced -= surface_duals_[row] * value; });
    return reduced;
  }

  Vector direction_of(const Column& column) const {
    Vector alpha = Vector::Zero(surface_rows_);
    for_each_entry(column, [&](int row, double value) { alpha += value * inverse_.col(row); });
    return alpha;
  }

  BlockingVariable ratio_test(const Column& entering, const Vector& alpha, bool first_leaves);

  // Makes the first slot of the job its key, and the key the column of that slot; returns the slot,
  // -1 if the job has none.  Example, three surface rows: job i has areas 5, 4, 3 there, the key
  // x_i0, x_i1 in slot p and x_i2 in slot q.
  //
  //             before, key x_i0           after, key x_i1
  //             p: x_i1   q: x_i2          p: x_i0   q: x_i2
  //   row 0        -5        -5               5         0         column p' = -p
  //   row 1         4         0              -4        -4         column q' = q - p
  //   row 2         0         3               0         3
  //
  // In the inverse, where a slot is a row, row p becomes -(row p + row q) and row q stays; if the
  // job has more slots, all of them are in that sum.  `alpha`, the entering column in terms of the
  // slots, changes as the inverse does, and first loses p where it is itself a column of this job.
  int swap_key(int job, const Column& entering, Vector& alpha);

  const IntervalModel& model_;
  int jobs_, surface_rows_;
  double scale_;  // areas and capacities times this are of order 1
  std::vector<int> key_interval_;
  std::vector<Column> slot_columns_;
  Eigen::MatrixXd inverse_;
  Vector slot_values_;    // of the slots
  Vector surface_duals_;  // of the surface rows
  Vector capacity_;
  std::vector<double> slot_share_, key_rate_;  // a value a job: scratch of ratio_test
  int updates_since_refactor_ = 0;
};

}  // namespace cosched::moldable::minsum
