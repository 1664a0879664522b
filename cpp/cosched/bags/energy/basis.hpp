// A basis of the relaxation, as a function of the makespan: the linear algebra of walk.hpp.
//
// Each task type has one basic variable that is its *key*; the other M basic variables (columns
// x_ij or slacks of load rows) are what the M x M inverse is about (generalised upper bounds,
// Dantzig and Van Slyke 1967).  A pivot costs O(T M + M^2), whatever the number of tasks.
#pragma once

#include "cosched/bags/model/instance.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/opt/inverse.hpp"

namespace cosched::bags::energy {

/// Sums smaller than this, relative to their terms, are rounding errors.
inline constexpr double kPivotNoise = 1e-12;
/// Updates of the inverse after which it is computed anew.
inline constexpr int kUpdatesPerFactor = 40;
/// Reduced costs below this, relative to their terms, are 0.
inline constexpr double kCostNoise = 1e-15;

/// A basis of the relaxation in which every value is linear in the makespan.
class MakespanBasis {
 public:
  /// A basic variable: the nonkey at `position`, or the key of `type` where position < 0.
  struct BasicVariable {
    int position = -1, type = -1;
    bool is_none() const { return position < 0 && type < 0; }
  };

  /// The basis that is optimal at large makespans: each type on its thriftiest machine type, all
  /// slacks basic.  All columns are open.  Keeps a reference to the instance.
  explicit MakespanBasis(const Instance& instance);

  int types() const { return types_; }
  int machine_types() const { return machines_; }
  /// Forbids tasks of type i on machine type j from now on.
  void close_column(int i, int j) { is_open_[cell(i, j)] = 0; }

  /// The dynamic energy D at a makespan where the basis is feasible.  O(T + M).
  double joules(double makespan) const;

  /// The solution x there.  O(T M).
  Table solution(double makespan) const;

  /// The dual prices of the load rows: the joules that a second on a machine of each type is worth.
  std::vector<double> prices() const;

  /// Basic variables whose values may depend on the makespan, nonkeys first.
  std::vector<BasicVariable> variables() const {
    std::vector<BasicVariable> variables;
    for (int p = 0; p < machines_; ++p) variables.push_back({p, -1});
    for (const int i : types_with_nonkey_) variables.push_back({-1, i});
    return variables;
  }

  /// Keys in closed columns that variables() does not list: their share is 1.
  std::vector<BasicVariable> closed_single_keys() const;

  /// Whether the column of the variable is closed.
  bool is_closed(const BasicVariable& row) const {
    if (row.position < 0) return !is_open_[cell(row.type, key_machine_types_[row.type])];
    const BasisColumn& basic = nonkey_columns_[row.position];
    return basic.type >= 0 && !is_open_[cell(basic.type, basic.machine)];
  }

  bool is_slack(const BasicVariable& row) const {
    return row.position >= 0 && nonkey_columns_[row.position].type < 0;
  }
  /// Share x_ij / T_i in 0..1, or seconds of a slack.
  double value(const BasicVariable& row, double makespan) const;

  /// d value / d makespan; exactly zero where it is below the rounding errors.
  double slope(const BasicVariable& row) const;

  /// The number of the variable, in 0..M (T + 1) - 1, which breaks ties.
  int variable_number(const BasicVariable& row) const {
    const BasisColumn basic = row.position >= 0
                                  ? nonkey_columns_[row.position]
                                  : BasisColumn{row.type, key_machine_types_[row.type]};
    return basic.type < 0 ? basic.machine
                          : machines_ + static_cast<int>(cell(basic.type, basic.machine));
  }

  /// A dual simplex step: `leaving` decreases to zero (or increases to it) and becomes nonbasic;
  /// the variable that enters keeps the reduced costs >= 0; among equal ones the larger pivot
  /// enters, or with `lowest` the lowest number.  Returns false where no column can take its place,
  /// so that no x makes it zero; `leaving` then names the same variable as before, perhaps in
  /// another form.
  bool pivot(BasicVariable& leaving, bool decreases, bool lowest);

 private:
  // The effect of all tasks of a type on one machine type in the dual ratio test.
  struct ColumnEffect {
    double seconds;     // of mean load
    double push;        // how fast the leaving variable goes to zero
    double cost;        // joules less what the load costs at the prices of the basis
    double cost_terms;  // sum of the sizes of the two terms of `cost`, for its rounding error
  };

  struct BasisColumn {
    int type;     // -1: the slack of `machine`
    int machine;  // type; -1: none
  };
  enum Role : char { nonbasic, key, nonkey };

  Eigen::Index cell(int i, int j) const { return static_cast<Eigen::Index>(i) * machines_ + j; }
  void update_values();

  // The key of row.type changes places with the first nonkey of that type, if there is one.
  void make_nonkey(BasicVariable& row);

  // Dual ratio test: among the columns that push the leaving variable towards zero, the one whose
  // reduced cost is used up first; ties: the larger pivot, or the lowest number when stalling.
  BasisColumn ratio_test(int position, bool decreases, bool lowest) const;

  // The column of least reduced cost that can replace the only basic variable of a type.
  BasisColumn cheapest_key(int type) const;

  // Dual prices of the load rows, joules a second of mean load: all <= 0.
  Eigen::VectorXd load_prices() const;

  Eigen::VectorXd column_of(const BasisColumn& basic) const;

  void set_role(const BasisColumn& basic, Role role) {
    if (basic.type < 0)
      is_slack_basic_[basic.machine] = role != nonbasic;
    else
      roles_[cell(basic.type, basic.machine)] = role;
  }

  // `entering` takes the place of nonkey `position` in the basis.
  void replace_nonkey(int position, const BasisColumn& entering);

  void refactor() {
    Eigen::MatrixXd matrix(machines_, machines_);
    for (int p = 0; p < machines_; ++p) matrix.col(p) = column_of(nonkey_columns_[p]);
    inverse_ = opt::inverse_of(matrix);
    if (!inverse_.allFinite()) throw SolverError("energy front: singular basis");
    updates_since_refactor_ = 0;
  }

  const Instance* instance_;
  int types_, machines_;
  // In shares z_ij = x_ij / T_i, which are in 0..1 whatever the number of tasks:
  Table seconds_;  // T_i ETC_ij / M_j: what share 1 adds to the mean load of machine type j
  Table joules_;   // T_i joules(i, j)
  std::vector<char> is_open_;  // T x M

  std::vector<int> key_machine_types_;       // machine type of each type's key
  std::vector<BasisColumn> nonkey_columns_;  // M of them
  std::vector<char> roles_;                  // T x M
  std::vector<char> is_slack_basic_;
  Eigen::MatrixXd inverse_;  // of the M x M matrix of nonkey columns relative to their keys
  // The value of a nonkey is value_slopes_ * makespan - value_offsets_.
  Eigen::VectorXd value_slopes_, value_offsets_;
  Eigen::VectorXd slope_noise_;         // rounding errors of value_slopes_
  std::vector<int> types_with_nonkey_;  // ascending
  int updates_since_refactor_ = 0;
};

}  // namespace cosched::bags::energy
