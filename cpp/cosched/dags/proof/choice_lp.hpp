// A linear programme over choices: each group takes one of its choices, in shares, so that a few
// rows hold.  A dual simplex that keeps one choice of each group aside (generalised upper bounds:
// Dantzig and Van Slyke 1967), so that its basis has the size of the rows alone.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace cosched::dags::proof {

/// minimise lambda
///   sum over choices c of a_k[c] x_c - w_k lambda <= b_k   for each row k, w_k >= 0
///   sum of x over each group = 1,  x >= 0.
class ChoiceLp {
 public:
  /// Choices group_begin[g] .. group_begin[g + 1] - 1 are those of group g.
  explicit ChoiceLp(std::vector<int> group_begin);

  int rows() const { return static_cast<int>(rows_.size()); }

  /// The first row needs a weight > 0.  O(rows^2 + choices).
  void add_row(std::vector<double> coefficients, double weight, double limit);

  /// Pivots until optimal, or until the prices prove more than `enough`; false: neither, after
  /// `pivots` pivots or a numerical breakdown.  Whatever it returns, the prices prove a bound:
  /// lambda sum_k w_k p_k >= sum over groups of min over choices of sum_k p_k a_k[c] - sum_k p_k b_k.
  bool solve(double enough, int pivots);

  /// lambda of the basis: at most the optimum.
  double value() const { return value_; }
  /// Price >= 0 of each row.
  std::vector<double> prices() const;
  /// Share of each choice; may be slightly outside 0..1 where solve() ended early.
  std::vector<double> shares() const;

  /// Forgets rows beyond `keep` that do not bind, the oldest first; numbers of the rows that stay.
  std::vector<int> drop_loose_rows(int keep);

  std::int64_t steps() const { return steps_; }

 private:
  static constexpr int kLambda = -1;
  int choices() const { return static_cast<int>(group_of_.size()); }
  bool is_slack(int variable) const { return variable >= choices(); }
  Eigen::VectorXd column(int variable) const;
  void refactor();
  void recompute();
  void recompute_reduced();
  int leaving();
  int make_plain(int group);
  void multiply_choices(const Eigen::RowVectorXd& row);
  struct RatioTest;
  RatioTest choose_entering(const Eigen::RowVectorXd& row) const;
  bool pivot(int position);

  std::vector<int> group_begin_, group_of_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> weight_, limit_;
  std::vector<int> key_;       // of each group
  std::vector<int> basic_;     // kLambda, a choice, or choices() + row
  std::vector<int> position_;  // of a choice in basic_, -1
  Eigen::MatrixXd inverse_;
  Eigen::VectorXd value_of_;  // of the basic variables
  std::vector<double> key_value_;
  std::vector<double> reduced_;  // of each choice, >= 0
  std::vector<double> alpha_;    // of each choice, in the last pivot
  double value_ = 0;
  int since_refactor_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace cosched::dags::proof
