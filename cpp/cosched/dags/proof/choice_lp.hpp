// A linear programme over choices: each group takes its choices in shares of sum 1, so that a few
// rows hold.  A dual simplex with generalised upper bounds (Dantzig and Van Slyke 1967): the share
// of one choice of each group, its key, is 1 less the others, so the basis has the size of the rows
// alone.
#pragma once

#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/inverse.hpp"

namespace cosched::dags::proof {

/// minimise lambda
///   sum over choices c of a_k[c] x_c - w_k lambda <= b_k   for each row k, w_k >= 0
///   sum of x over each group = 1,  x >= 0.
class ChoiceLp {
 public:
  /// Choices group_begin[g] .. group_begin[g + 1] - 1 are those of group g.
  explicit ChoiceLp(std::vector<int> group_begin);

  int rows() const { return static_cast<int>(rows_.size()); }

  /// Adds a row a x - weight lambda <= limit.  The first row needs a weight > 0.
  /// O(rows^2 + choices).
  void add_row(std::vector<double> coefficients, double weight, double limit);

  /// Pivots until the basis is optimal or lambda exceeds `target_value`; returns false where
  /// `max_pivots` pivots or a numerical breakdown end the call before.  In any case the prices
  /// prove
  ///   lambda sum_k w_k p_k >= sum over groups of min over choices c of sum_k p_k a_k[c]
  ///                           - sum_k p_k b_k.
  bool solve(double target_value, int max_pivots);

  /// lambda of the basis, at most the optimum.
  double value() const { return lambda_; }

  /// Prices of the rows, >= 0.
  std::vector<double> prices() const;

  /// Shares of the choices; slightly outside 0..1 where solve() has ended early.
  std::vector<double> shares() const;

  /// Drops rows that do not bind, the oldest first, until there are at most `max_rows`.  Returns
  /// the numbers of the rows that stay.
  std::vector<int> drop_loose_rows(int max_rows);

  std::int64_t steps() const { return steps_; }

 private:
  static constexpr double kLeastPivot = kExactTolerance;            // smaller entries are no pivots
  static constexpr double kFeasibilityTolerance = kExactTolerance;  // of shares
  // Pivots after which the inverse is computed anew, so that their rounding errors do not add up.
  static constexpr int kRefactorAfter = 50;

  static constexpr int kLambda = -1;
  int choices() const { return static_cast<int>(group_of_.size()); }
  bool is_slack(int variable) const { return variable >= choices(); }

  Eigen::VectorXd column(int variable) const;
  void refactor();
  void update_values();
  void update_reduced_costs();
  int choose_leaving();
  int exchange_key(int group);
  void multiply_choices(const Eigen::RowVectorXd& row);

  // The dual ratio test, which keeps reduced costs >= 0; among equal ratios the largest pivot wins.
  struct RatioTest {
    static constexpr int kNone = -2;
    int variable = kNone;
    double ratio = kInfinity, size = 0;

    void offer(int candidate, double alpha, double cost) {
      if (alpha >= -kLeastPivot) return;
      const double candidate_ratio = cost / -alpha;
      const bool is_less = candidate_ratio < ratio * (1 - kSumTolerance);
      if (is_less || (candidate_ratio <= ratio && -alpha > size)) {
        variable = candidate;
        ratio = candidate_ratio;
        size = -alpha;
      }
    }
  };

  RatioTest choose_entering(const Eigen::RowVectorXd& row) const;
  bool pivot(int position);

  std::vector<int> group_begin_, group_of_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> weight_, limit_;
  std::vector<int> key_choice_;      // of each group: the choice whose share is 1 less the others
  std::vector<int> basic_;           // kLambda, a choice, or choices() + row
  std::vector<int> basis_position_;  // of each choice: its position in basic_; -1: it is not basic
  Eigen::MatrixXd inverse_;
  Eigen::VectorXd basic_value_;  // of each basic variable
  std::vector<double> key_value_;
  std::vector<double> reduced_cost_;  // of each choice, >= 0
  std::vector<double> pivot_row_;     // of each choice: its entry in the row of the last pivot
  double lambda_ = 0;
  int pivots_since_refactor_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace cosched::dags::proof
