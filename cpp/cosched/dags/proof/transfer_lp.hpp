// The linear programme of the bound `transfers` (transfers_bound.hpp), for any solver.
//
//   minimise lambda
//   C_i + sum_qr c_e[q][r] y_e[q][r] + P_j(x) <= C_j        for every edge e = (i, j)
//   sum_q x_jq (head_jq + p_jq) <= C_j,   C_j + sum_q x_jq tail_jq <= lambda
//   (1/m_q) sum_j p_jq x_jq <= lambda,    (1/m_q) sum_j x_jq energy(j, [a, b)) <= (b - a) lambda /
//   T sum_r y_e[q][r] = x_iq,  sum_q y_e[q][r] = x_jr,  sum_q x_jq = 1,  x, y >= 0.
//
// Shares of one type a task, and one row and column of each plan, are expressed by the others: what
// remains has inequalities only (Q = 2: a column and up to five rows an edge, and none but its path
// where its plan is decided or costs nothing).  A closed pair of an edge costs many times T.  Times
// are divided by `scale`.
//
// Three tasks, two types: a and c can run on both, b on the GPU only; edges (a, c) and (b, c) cost.
//  The shares are x_a and x_c on the GPU, those on the CPU 1 - x_a and 1 - x_c; b has none.  The
//  plan of (a, c)
// is one column y = y[GPU][GPU], of which the other three entries are x_a - y, x_c - y and
// 1 - x_a - x_c + y; that of (b, c) is c's share.  So there are lambda, three C, two shares and one
// entry: 7 columns, where the programme above has 1 + 3 + 5 + 6 and 10 equations.
#pragma once

#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/energy_sweep.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"
#include "cosched/opt/interior_point.hpp"

namespace cosched::dags::proof {

class TransferLp {
 public:
  /// `intervals`: for rows of energy; they need a finite makespan.
  TransferLp(const TransferWindows& windows, std::vector<TypeInterval> intervals, double scale);

  const opt::InequalityLp& programme() const { return programme_; }

  /// A point with all rows strictly satisfied: equal shares.
  std::vector<double> interior_point() const;

  /// (n, Q) shares of a point, clamped to 0..1, rows sum to 1.
  Table shares(const std::vector<double>& point) const;

  /// Earliest ends C_j under them, seconds, as the point has them.
  std::vector<double> ends(const std::vector<double>& point) const;

  /// The combination of rows with these prices.
  TransferStage stage(const std::vector<double>& prices) const;

 private:
  static constexpr double kClosedCost = 20;  // times T: cost of a pair of an edge that is closed

  // A share or a plan's entry: constant + sum of value x column.
  struct Expression {
    double constant = 0;
    std::vector<std::pair<int, double>> entries;

    void add(double factor, const Expression& other) {
      constant += factor * other.constant;
      for (const auto& [column, value] : other.entries)
        entries.emplace_back(column, factor * value);
    }
  };
  int end_column(int task) const { return 1 + task; }

  Expression share(int task, int type) const;
  Expression plan_entry(int edge, int q, int r) const;
  bool has_plan(int edge) const { return plan_begin_[edge] >= 0; }

  double cost(int edge, int q, int r) const;
  void add_columns();
  int add_row(Expression expression);
  void add_windows(int task);
  void add_edge(int edge);
  void add_loads();

  const TransferWindows& windows_;
  const TypeCosts& costs_;
  int types_;
  std::vector<TypeInterval> intervals_;
  double scale_;
  opt::InequalityLp programme_;
  std::vector<int> key_type_;     // of each task: the type whose share the others leave
  std::vector<int> share_begin_;  // of each task: column of its first share
  std::vector<int> rank_;         // (n, Q): of an open type among those but the key, -1
  std::vector<int> free_shares_;  // of each task: open types but the key
  std::vector<int> plan_begin_;   // of each edge: column of its plan, -1
  std::vector<int> enter_row_, leave_row_, path_row_;
  std::vector<int> plan_row_;  // (e, Q): row of the plan's entry (q, key of the second), -1
  std::vector<int> load_row_, interval_row_;
};

}  // namespace cosched::dags::proof
