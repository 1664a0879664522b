// A linear programme over choices: each group takes one of its choices, in shares, so that a few
// rows hold.  A dual simplex that keeps one choice of each group aside (generalised upper bounds:
// Dantzig and Van Slyke 1967), so that its basis has the size of the rows alone.
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
  explicit ChoiceLp(std::vector<int> group_begin) : group_begin_(std::move(group_begin)) {
    const int groups = static_cast<int>(group_begin_.size()) - 1;
    for (int group = 0; group < groups; ++group)
      group_of_.insert(group_of_.end(), group_begin_[group + 1] - group_begin_[group], group);
    position_.assign(choices(), -1);
    reduced_.assign(choices(), 0);
    alpha_.assign(choices(), 0);
    key_.assign(groups, -1);
    key_value_.assign(groups, 1);
  }

  int rows() const { return static_cast<int>(rows_.size()); }

  /// The first row needs a weight > 0.  O(rows^2 + choices).
  void add_row(std::vector<double> coefficients, double weight, double limit) {
    const int k = rows();
    rows_.push_back(std::move(coefficients));
    weight_.push_back(weight);
    limit_.push_back(limit);
    if (k == 0) {  // lambda is basic, and each group takes what is least in the row
      basic_.assign(1, kLambda);
      for (std::size_t group = 0; group < key_.size(); ++group) {
        const auto first = rows_[0].begin() + group_begin_[group];
        const auto last = rows_[0].begin() + group_begin_[group + 1];
        key_[group] = static_cast<int>(std::min_element(first, last) - rows_[0].begin());
      }
      refactor();
      return;
    }
    Eigen::RowVectorXd entries(k);
    for (int position = 0; position < k; ++position) {
      const int variable = basic_[position];
      entries[position] = variable == kLambda ? -weight
                          : is_slack(variable)
                              ? 0
                              : rows_[k][variable] - rows_[k][key_[group_of_[variable]]];
    }
    basic_.push_back(choices() + k);
    inverse_.conservativeResize(k + 1, k + 1);
    inverse_.col(k).setZero();
    inverse_.row(k).head(k) = -entries * inverse_.topLeftCorner(k, k);
    inverse_(k, k) = 1;
    recompute();
  }

  /// Pivots until optimal, or until the prices prove more than `enough`; false: neither, after
  /// `pivots` pivots or a numerical breakdown.  Whatever it returns, the prices prove a bound:
  /// lambda sum_k w_k p_k >= sum over groups of min over choices of sum_k p_k a_k[c] - sum_k p_k
  /// b_k.
  bool solve(double enough, int pivots) {
    for (int count = 0; count < pivots; ++count) {
      check_interrupt();
      if (value_ > enough) return true;
      const int position = leaving();
      if (position < 0) return true;
      if (!pivot(position)) {
        recompute();
        return value_ > enough;
      }
      if (++since_refactor_ >= kRefactorAfter)
        refactor();
      else
        recompute();
      if (!std::isfinite(value_)) return false;
    }
    return value_ > enough;
  }

  /// lambda of the basis: at most the optimum.
  double value() const { return value_; }

  /// Price >= 0 of each row.
  std::vector<double> prices() const {
    std::vector<double> price(rows(), 0.0);
    for (int position = 0; position < rows(); ++position)
      if (basic_[position] == kLambda)
        for (int k = 0; k < rows(); ++k) price[k] = std::max(0.0, -inverse_(position, k));
    return price;
  }

  /// Share of each choice; may be slightly outside 0..1 where solve() ended early.
  std::vector<double> shares() const {
    std::vector<double> share(choices(), 0.0);
    for (std::size_t group = 0; group < key_.size(); ++group)
      share[key_[group]] = key_value_[group];
    for (int position = 0; position < rows(); ++position)
      if (basic_[position] != kLambda && !is_slack(basic_[position]))
        share[basic_[position]] = value_of_[position];
    return share;
  }

  /// Forgets rows beyond `keep` that do not bind, the oldest first; numbers of the rows that stay.
  std::vector<int> drop_loose_rows(int keep) {
    std::vector<char> gone(rows(), 0);
    std::vector<int> basic, kept;
    int excess = rows() - keep;
    for (const int variable : basic_)
      if (excess > 0 && variable != kLambda && is_slack(variable)) {
        gone[variable - choices()] = 1;
        --excess;
      }
    std::vector<int> number(rows(), -1);
    for (int k = 0; k < rows(); ++k)
      if (!gone[k]) {
        number[k] = static_cast<int>(kept.size());
        kept.push_back(k);
      }
    if (static_cast<int>(kept.size()) == rows()) return kept;
    for (const int variable : basic_) {
      const bool slack = variable != kLambda && is_slack(variable);
      if (slack && gone[variable - choices()]) continue;
      basic.push_back(slack ? choices() + number[variable - choices()] : variable);
    }
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (static_cast<int>(k) == kept[k]) continue;
      rows_[k] = std::move(rows_[kept[k]]);
      weight_[k] = weight_[kept[k]];
      limit_[k] = limit_[kept[k]];
    }
    rows_.resize(kept.size());
    weight_.resize(kept.size());
    limit_.resize(kept.size());
    basic_ = std::move(basic);
    std::fill(position_.begin(), position_.end(), -1);
    for (int p = 0; p < rows(); ++p)
      if (basic_[p] != kLambda && !is_slack(basic_[p])) position_[basic_[p]] = p;
    refactor();
    return kept;
  }

  std::int64_t steps() const { return steps_; }

 private:
  static constexpr double kPivot = 1e-9;     // smallest entry to pivot on
  static constexpr double kFeasible = 1e-9;  // of shares
  static constexpr int kRefactorAfter = 50;

  static constexpr int kLambda = -1;
  int choices() const { return static_cast<int>(group_of_.size()); }
  bool is_slack(int variable) const { return variable >= choices(); }

  Eigen::VectorXd column(int variable) const {
    Eigen::VectorXd entries = Eigen::VectorXd::Zero(rows());
    if (variable == kLambda) {
      for (int k = 0; k < rows(); ++k) entries[k] = -weight_[k];
    } else if (is_slack(variable)) {
      entries[variable - choices()] = 1;
    } else {
      const int key = key_[group_of_[variable]];
      for (int k = 0; k < rows(); ++k) entries[k] = rows_[k][variable] - rows_[k][key];
    }
    return entries;
  }

  void refactor() {
    Eigen::MatrixXd matrix(rows(), rows());
    for (int position = 0; position < rows(); ++position)
      matrix.col(position) = column(basic_[position]);
    inverse_ = opt::inverse_of(matrix);
    since_refactor_ = 0;
    steps_ += static_cast<std::int64_t>(rows()) * rows() * rows() + 4LL * rows() * choices();
    recompute();
    recompute_reduced();
  }

  // Values of the basic variables and of the keys.
  void recompute() {
    Eigen::VectorXd right(rows());
    for (int k = 0; k < rows(); ++k) {
      double sum = limit_[k];
      for (const int key : key_) sum -= rows_[k][key];
      right[k] = sum;
    }
    value_of_ = inverse_ * right;
    std::fill(key_value_.begin(), key_value_.end(), 1.0);
    for (int position = 0; position < rows(); ++position) {
      const int variable = basic_[position];
      if (variable == kLambda)
        value_ = value_of_[position];
      else if (!is_slack(variable))
        key_value_[group_of_[variable]] -= value_of_[position];
    }
    steps_ += static_cast<std::int64_t>(rows()) * static_cast<std::int64_t>(key_.size());
  }

  void recompute_reduced() {
    const std::vector<double> price = prices();
    std::fill(reduced_.begin(), reduced_.end(), 0.0);
    for (int k = 0; k < rows(); ++k)
      if (price[k] > 0)
        for (int c = 0; c < choices(); ++c) reduced_[c] += price[k] * rows_[k][c];
    for (std::size_t group = 0; group < key_.size(); ++group) {
      const double key = reduced_[key_[group]];
      for (int c = group_begin_[group]; c < group_begin_[group + 1]; ++c)
        reduced_[c] = std::max(0.0, reduced_[c] - key);
    }
  }

  // The position of the variable furthest below 0, -1 where there is none.  A key that is below 0
  // changes places with another choice of its group first.
  int leaving() {
    int worst = -1;
    double least = 0;
    for (int position = 0; position < rows(); ++position) {
      if (basic_[position] == kLambda) continue;
      // Slacks are in the unit of the rows, shares in 0..1.
      const bool slack = is_slack(basic_[position]);
      const double scale =
          slack
              ? std::max(1e-300, std::abs(value_) + std::abs(limit_[basic_[position] - choices()]))
              : 1;
      const double amount = value_of_[position] / scale;
      if (amount < -kFeasible && amount < least) {
        least = amount;
        worst = position;
      }
    }
    int group = -1;
    for (std::size_t g = 0; g < key_.size(); ++g)
      if (key_value_[g] < -kFeasible && key_value_[g] < least) {
        least = key_value_[g];
        group = static_cast<int>(g);
      }
    return group < 0 ? worst : make_plain(group);
  }

  // Another basic choice of the group becomes its key; the position of the old one.
  int make_plain(int group) {
    int position = -1;
    for (int p = 0; p < rows(); ++p) {
      const int variable = basic_[p];
      if (variable == kLambda || is_slack(variable) || group_of_[variable] != group) continue;
      if (position < 0 || value_of_[p] > value_of_[position]) position = p;
    }
    if (position < 0) return -1;
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(rows());
    for (int p = 0; p < rows(); ++p) {
      const int variable = basic_[p];
      if (variable != kLambda && !is_slack(variable) && group_of_[variable] == group)
        sum += inverse_.row(p);
    }
    inverse_.row(position) = -sum;
    const int old = key_[group];
    key_[group] = basic_[position];
    position_[basic_[position]] = -1;
    basic_[position] = old;
    position_[old] = position;
    std::swap(key_value_[group], value_of_[position]);
    return position;
  }

  // alpha_ of each choice: how it meets this row of the inverse, less how the key of its group
  // does.
  void multiply_choices(const Eigen::RowVectorXd& row) {
    std::fill(alpha_.begin(), alpha_.end(), 0.0);
    for (int k = 0; k < rows(); ++k) {
      const double factor = row[k];
      if (factor == 0) continue;
      const double* entries = rows_[k].data();
      for (int c = 0; c < choices(); ++c) alpha_[c] += factor * entries[c];
    }
    for (std::size_t group = 0; group < key_.size(); ++group) {
      const double base = alpha_[key_[group]];
      for (int c = group_begin_[group]; c < group_begin_[group + 1]; ++c) alpha_[c] -= base;
    }
    steps_ += static_cast<std::int64_t>(rows()) * choices() / 2 + 2LL * rows() * rows();
  }

  // The dual ratio test: reduced costs stay >= 0, and of equal ratios the largest pivot is the
  // best.
  struct RatioTest {
    static constexpr int kNone = -2;
    int variable = kNone;
    double ratio = kInfinity, size = 0;

    void offer(int other, double alpha, double cost) {
      if (alpha >= -kPivot) return;
      const double its = cost / -alpha;
      if (its < ratio * (1 - 1e-12) || (its <= ratio && -alpha > size)) {
        variable = other;
        ratio = its;
        size = -alpha;
      }
    }
  };

  // What can enter the basis for this row of the inverse, of which alpha_ is known.
  RatioTest choose_entering(const Eigen::RowVectorXd& row) const {
    RatioTest test;
    for (std::size_t group = 0; group < key_.size(); ++group)
      for (int c = group_begin_[group]; c < group_begin_[group + 1]; ++c)
        if (c != key_[group] && position_[c] < 0) test.offer(c, alpha_[c], reduced_[c]);
    const std::vector<double> price = prices();
    std::vector<char> basic_slack(rows(), 0);
    for (const int variable : basic_)
      if (variable != kLambda && is_slack(variable)) basic_slack[variable - choices()] = 1;
    for (int k = 0; k < rows(); ++k)
      if (!basic_slack[k]) test.offer(choices() + k, row[k], price[k]);
    return test;
  }

  // The variable at `position` leaves; false: no other can enter, and the prices have been moved so
  // that they prove the programme infeasible, or the numbers have broken down.
  bool pivot(int position) {
    const Eigen::RowVectorXd row = inverse_.row(position);
    multiply_choices(row);
    const RatioTest entering = choose_entering(row);
    if (entering.variable == RatioTest::kNone) {
      // No schedule at all: the row of the inverse is a ray of prices.
      for (int p = 0; p < rows(); ++p)
        if (basic_[p] == kLambda)
          inverse_.row(p) -= (1 + std::abs(value_)) * 1e3 / -value_of_[position] * row;
      return false;
    }
    const Eigen::VectorXd entries = inverse_ * column(entering.variable);
    const double at = entries[position];
    if (std::abs(at) < kPivot) return false;
    const Eigen::RowVectorXd scaled = row / at;
    for (int p = 0; p < rows(); ++p)
      if (p != position && entries[p] != 0) inverse_.row(p) -= entries[p] * scaled;
    inverse_.row(position) = scaled;
    for (int c = 0; c < choices(); ++c)
      reduced_[c] = std::max(0.0, reduced_[c] + entering.ratio * alpha_[c]);
    const int gone = basic_[position];
    if (!is_slack(gone)) {
      position_[gone] = -1;
      reduced_[gone] = entering.ratio;
    }
    basic_[position] = entering.variable;
    if (!is_slack(entering.variable)) {
      position_[entering.variable] = position;
      reduced_[entering.variable] = 0;
    }
    return true;
  }

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
