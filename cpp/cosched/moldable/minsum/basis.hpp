// The basis of the minsum programme (model.hpp) in a simplex method that knows its
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
// 8 times (build/bench/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py).
#pragma once

#include <Eigen/Core>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/moldable/minsum/model.hpp"

namespace cosched::moldable::minsum {

class Basis {
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
  explicit Basis(const Model& model);

  int key(int job) const { return key_[job]; }

  /// Inverse and values anew.  O(J^3 + n).
  void refactor();

  /// Steps since then that changed the inverse.
  int age() const { return age_; }

  /// The negative dual value of each surface row.  At the optimum >= 0 and non-increasing.  O(J).
  std::vector<double> prices() const;

  /// Brings a column into the basis; returns its value then, infinite where nothing blocks
  /// it (only rounding can cause that; the basis is then unchanged).  Among equal steps the largest
  /// pivot leaves, or the first column if `first_leaves` (Bland's rule).  O(J^2).
  double enter(Column column, bool first_leaves);

  /// Objective of the basic solution.  O(n).
  double objective() const;

 private:
  using Vector = Eigen::VectorXd;

  // What blocks a step: a slot, or the key of a job.
  struct Blocking {
    double step = kInfinity, pivot = 0;
    int slot = -1, job = -1;
    Column column{-1, -1};
  };

  double area(int i, int j) const { return model_.area(i)[j] * scale_; }
  void assign_keys();
  void recompute();
  template <class Use>
  void for_each_entry(const Column& column, Use use) const;
  double cost_of(const Column& column) const;
  double reduced_cost(const Column& column) const;
  Vector direction_of(const Column& column) const;
  Blocking ratio_test(const Column& entering, const Vector& alpha, bool first_leaves);
  int swap_key(int job, const Column& entering, Vector& alpha);

  const Model& model_;
  int jobs_, rows_;
  double scale_;  // areas and capacities times this are of order 1
  std::vector<int> key_;
  std::vector<Column> slot_;
  Eigen::MatrixXd inverse_;
  Vector value_;  // of the slots
  Vector dual_;   // of the surface rows
  Vector capacity_;
  std::vector<double> in_slots_, rate_;  // a value a job: scratch of ratio_test
  int age_ = 0;
};

}  // namespace cosched::moldable::minsum
