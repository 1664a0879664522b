// Linear covering programme that grows by columns: the restricted master of column generation.
//
//   minimise c x   subject to   A x >= b,  x >= 0        (c >= 0)
//
// A primal simplex that keeps its basis between calls: after new columns a few pivots restore
// optimality.  Libraries that keep theirs, on the masters of the column bound: at 20 to 65 tasks
// GLPK takes 4 times as long and HiGHS 4.6 to 12 times, at 260 tasks both 0.8 to 0.9 times
// (build/release/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py).
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::opt {

class CoverLp {
 public:
  /// A programme with these right-hand sides b.  Column i is artificial: it has cost
  /// `artificial_cost` and covers row i alone.  The artificial columns are the first basis (a row
  /// with b_i <= 0 starts with its slack instead), and their cost shows where the programme is
  /// infeasible.
  CoverLp(std::vector<double> right, double artificial_cost);

  /// Returns the column's number.  `rows` are distinct; cost >= 0.
  int add_column(double cost, const std::vector<int>& rows, const std::vector<double>& values);
  int add_column(double cost, const std::vector<int>& rows);  // values 1

  /// Pivots until no column has a relative reduced cost below -tolerance; returns false where
  /// `max_pivots` are done or numerical trouble ends the call: dual() is then only approximate,
  /// which does not harm column generation, because its bound comes from pricing.
  bool solve(double tolerance, std::int64_t max_pivots);

  /// The price y >= 0 of each row.
  const std::vector<double>& dual() const { return dual_; }
  /// sum_i b_i y_i: the optimal objective, where solve() has returned true.
  double objective() const;
  /// Values of the columns for the right-hand sides as given (the pivots perturb them against
  /// ties); what rounding leaves negative is 0.  O(m^2).
  std::vector<double> solution() const;

  /// Drops columns that are not basic and have a relative reduced cost above `max_reduced_cost`;
  /// the artificial columns stay.  Returns the new number of each old column, or -1.
  std::vector<int> drop_columns(double max_reduced_cost);

  int rows() const { return static_cast<int>(right_.size()); }
  int columns() const { return static_cast<int>(cost_.size()); }
  double cost(int column) const { return cost_[column]; }
  /// Rows with a coefficient in `column`, and the coefficients in that order.
  const int* begin(int column) const { return row_.data() + start_[column]; }
  const int* end(int column) const { return row_.data() + start_[column + 1]; }
  const double* values(int column) const { return value_.data() + start_[column]; }
  double reduced_cost(int column) const;
  std::int64_t pivots() const { return pivots_; }

 private:
  bool is_slack(int variable) const { return variable < 0; }
  int slack_row(int variable) const { return -1 - variable; }
  double relative_reduced_cost(int column) const;
  void find_largest_dual();
  void collect_candidates(double tolerance);
  int best_candidate(double tolerance);
  int choose_entering(double tolerance);
  bool pivot(int variable);
  void compute_direction(int variable);
  int choose_leaving() const;
  void set_basic(int variable, bool is_basic);
  void update_basis(int variable, int row);
  bool refactor();
  void recompute_values();
  double residual() const;
  double dual_residual() const;

  // A variable is the number of a column, or -1 - i for the slack of row i.
  std::vector<double> right_;            // b
  std::vector<double> perturbed_right_;  // b of the pivots: a little larger, against ties
  std::vector<double> cost_;             // of each column
  std::vector<int> start_{0};            // of each column: its first entry; and the end of the last
  std::vector<int> row_;                 // of each entry
  std::vector<double> value_;            // of each entry

  std::vector<int> basis_;            // the m basic variables
  std::vector<char> is_basic_;        // of each column
  std::vector<char> is_slack_basic_;  // of each row
  std::vector<double> inverse_;       // of the basis matrix, m x m, column-major
  std::vector<double> basic_value_;   // of basis_, in that order
  std::vector<double> dual_;          // of each row
  std::vector<double> direction_;     // how basic_value_ falls while the entering variable rises
  double largest_dual_ = 0;           // the largest |dual value|
  std::vector<int> candidates_;       // columns that the last full scan proposed
  std::int64_t pivots_ = 0;
  int pivots_since_check_ = 0;
};

}  // namespace cosched::opt
