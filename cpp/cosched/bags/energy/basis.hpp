// A basis of the relaxation, as a function of the makespan: the linear algebra of walk.hpp.
//
// Each task type has one basic variable that is its *key*; the other M basic variables (columns
// x_ij or slacks of load rows) are what the M x M inverse is about (generalised upper bounds,
// Dantzig and Van Slyke 1967).  A pivot costs O(T M + M^2), whatever the number of tasks.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::energy {

/// Sums smaller than this, relative to their terms, are rounding.
inline constexpr double kPivotNoise = 1e-12;

class Basis {
 public:
  /// A basic variable: the nonkey at `position`, or the key of `type` where position < 0.
  struct Row {
    int position = -1, type = -1;
    bool none() const { return position < 0 && type < 0; }
  };

  /// The basis that is optimal at large makespans: each type on its thriftiest machine type, all
  /// slacks basic.  All columns are open.  Keeps a reference to the instance.
  explicit Basis(const Instance& instance);

  int types() const { return types_; }
  int machine_types() const { return machines_; }
  /// Column (i, j) may not be used any more.
  void close(int i, int j) { open_[cell(i, j)] = 0; }

  /// Dynamic energy and x at a makespan where the basis is feasible.  O(M) and O(T M).
  double joules(double makespan) const;
  Table solution(double makespan) const;

  /// What a second on a machine of each type is worth, in joules: dual prices of the load rows.
  std::vector<double> prices() const;

  /// Basic variables whose values may depend on the makespan, nonkeys first.
  std::vector<Row> rows() const;
  /// Keys in closed columns that rows() does not list (their share is 1).
  std::vector<Row> closed_lone_keys() const;
  bool closed(const Row& row) const;
  bool slack(const Row& row) const { return row.position >= 0 && nonkey_[row.position].type < 0; }
  /// Share x_ij / T_i in 0..1, or seconds of a slack.
  double value(const Row& row, double makespan) const;
  /// d value / d makespan; exactly zero where it is rounding.
  double slope(const Row& row) const;
  /// Number of the variable, in 0..M (T + 1) - 1: the order that breaks ties.
  int order(const Row& row) const;

  /// Dual simplex step: `leaving` decreases to zero (or increases to it) and becomes nonbasic;
  /// what enters keeps the reduced costs >= 0; ties: the larger pivot, or with `lowest` the
  /// lowest number.  False where no column can take its place: no x makes it zero.  `leaving` then
  /// names the same variable as before, perhaps in another form.
  bool pivot(Row& leaving, bool decreases, bool lowest);

 private:
  struct Basic {
    int type;     // -1: the slack of `machine`
    int machine;  // type; -1: none
  };
  enum Role : char { nonbasic, key, nonkey };

  Eigen::Index cell(int i, int j) const { return static_cast<Eigen::Index>(i) * machines_ + j; }
  void update_values();
  void make_nonkey(Row& row);
  Basic ratio_test(int position, bool decreases, bool lowest) const;
  Basic cheapest_key(int type) const;
  Eigen::VectorXd load_prices() const;
  Eigen::VectorXd column_of(const Basic& basic) const;
  void set_role(const Basic& basic, Role role);
  void replace(int position, const Basic& entering);
  void refactor();

  const Instance* instance_;
  int types_, machines_;
  // In shares z_ij = x_ij / T_i, which are in 0..1 whatever the number of tasks:
  Table seconds_;  // T_i ETC_ij / M_j: what share 1 adds to the mean load of machine type j
  Table joules_;   // T_i joules(i, j)
  std::vector<char> open_;  // T x M

  std::vector<int> key_;       // machine type of each type's key
  std::vector<Basic> nonkey_;  // M of them
  std::vector<char> role_;     // T x M
  std::vector<char> slack_basic_;
  Eigen::MatrixXd inverse_;       // of the M x M matrix of nonkey columns relative to their keys
  Eigen::VectorXd rise_, level_;  // values of the nonkeys: rise_ makespan - level_
  Eigen::VectorXd noise_;         // what of rise_ is rounding
  std::vector<int> active_;       // types with a nonkey, ascending
  int updates_ = 0;               // since the last refactorisation
};

}  // namespace cosched::bags::energy
