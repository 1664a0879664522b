#include "cosched/dags/proof/choice_lp.hpp"

namespace cosched::dags::proof {

ChoiceLp::ChoiceLp(std::vector<int> group_begin) : group_begin_(std::move(group_begin)) {
  const int groups = static_cast<int>(group_begin_.size()) - 1;
  for (int group = 0; group < groups; ++group)
    group_of_.insert(group_of_.end(), group_begin_[group + 1] - group_begin_[group], group);
  basis_position_.assign(choices(), -1);
  reduced_cost_.assign(choices(), 0);
  pivot_row_.assign(choices(), 0);
  key_choice_.assign(groups, -1);
  key_value_.assign(groups, 1);
}

void ChoiceLp::add_row(std::vector<double> coefficients, double weight, double limit) {
  const int k = rows();
  rows_.push_back(std::move(coefficients));
  weight_.push_back(weight);
  limit_.push_back(limit);
  if (k == 0) {  // lambda is basic, and the key of each group is its least choice in the row
    basic_.assign(1, kLambda);
    for (std::size_t group = 0; group < key_choice_.size(); ++group) {
      const auto first = rows_[0].begin() + group_begin_[group];
      const auto last = rows_[0].begin() + group_begin_[group + 1];
      key_choice_[group] = static_cast<int>(std::min_element(first, last) - rows_[0].begin());
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
                            : rows_[k][variable] - rows_[k][key_choice_[group_of_[variable]]];
  }
  basic_.push_back(choices() + k);
  inverse_.conservativeResize(k + 1, k + 1);
  inverse_.col(k).setZero();
  inverse_.row(k).head(k) = -entries * inverse_.topLeftCorner(k, k);
  inverse_(k, k) = 1;
  update_values();
}

bool ChoiceLp::solve(double target_value, int max_pivots) {
  for (int pivots = 0; pivots < max_pivots; ++pivots) {
    check_interrupt();
    if (lambda_ > target_value) return true;
    const int position = choose_leaving();
    if (position < 0) return true;
    if (!pivot(position)) {
      update_values();
      return lambda_ > target_value;
    }
    ++pivots_since_refactor_;
    if (pivots_since_refactor_ >= kRefactorAfter)
      refactor();
    else
      update_values();
    if (!std::isfinite(lambda_)) return false;
  }
  return lambda_ > target_value;
}

std::vector<double> ChoiceLp::prices() const {
  std::vector<double> price(rows(), 0.0);
  for (int position = 0; position < rows(); ++position)
    if (basic_[position] == kLambda)
      for (int k = 0; k < rows(); ++k) price[k] = std::max(0.0, -inverse_(position, k));
  return price;
}

std::vector<double> ChoiceLp::shares() const {
  std::vector<double> share(choices(), 0.0);
  for (std::size_t group = 0; group < key_choice_.size(); ++group)
    share[key_choice_[group]] = key_value_[group];
  for (int position = 0; position < rows(); ++position)
    if (basic_[position] != kLambda && !is_slack(basic_[position]))
      share[basic_[position]] = basic_value_[position];
  return share;
}

std::vector<int> ChoiceLp::drop_loose_rows(int max_rows) {
  std::vector<char> is_dropped(rows(), 0);
  std::vector<int> basic, remaining_rows;
  int excess = rows() - max_rows;
  for (const int variable : basic_)
    if (excess > 0 && variable != kLambda && is_slack(variable)) {
      is_dropped[variable - choices()] = 1;
      --excess;
    }
  std::vector<int> number(rows(), -1);
  for (int k = 0; k < rows(); ++k)
    if (!is_dropped[k]) {
      number[k] = static_cast<int>(remaining_rows.size());
      remaining_rows.push_back(k);
    }
  if (static_cast<int>(remaining_rows.size()) == rows()) return remaining_rows;
  for (const int variable : basic_) {
    const bool slack = variable != kLambda && is_slack(variable);
    if (slack && is_dropped[variable - choices()]) continue;
    basic.push_back(slack ? choices() + number[variable - choices()] : variable);
  }
  for (std::size_t k = 0; k < remaining_rows.size(); ++k) {
    if (static_cast<int>(k) == remaining_rows[k]) continue;
    rows_[k] = std::move(rows_[remaining_rows[k]]);
    weight_[k] = weight_[remaining_rows[k]];
    limit_[k] = limit_[remaining_rows[k]];
  }
  rows_.resize(remaining_rows.size());
  weight_.resize(remaining_rows.size());
  limit_.resize(remaining_rows.size());
  basic_ = std::move(basic);
  std::fill(basis_position_.begin(), basis_position_.end(), -1);
  for (int p = 0; p < rows(); ++p)
    if (basic_[p] != kLambda && !is_slack(basic_[p])) basis_position_[basic_[p]] = p;
  refactor();
  return remaining_rows;
}

Eigen::VectorXd ChoiceLp::column(int variable) const {
  Eigen::VectorXd entries = Eigen::VectorXd::Zero(rows());
  if (variable == kLambda) {
    for (int k = 0; k < rows(); ++k) entries[k] = -weight_[k];
  } else if (is_slack(variable)) {
    entries[variable - choices()] = 1;
  } else {
    const int key = key_choice_[group_of_[variable]];
    for (int k = 0; k < rows(); ++k) entries[k] = rows_[k][variable] - rows_[k][key];
  }
  return entries;
}

void ChoiceLp::refactor() {
  Eigen::MatrixXd matrix(rows(), rows());
  for (int position = 0; position < rows(); ++position)
    matrix.col(position) = column(basic_[position]);
  inverse_ = opt::inverse_of(matrix);
  pivots_since_refactor_ = 0;
  steps_ += static_cast<std::int64_t>(rows()) * rows() * rows() + 4LL * rows() * choices();
  update_values();
  update_reduced_costs();
}

// Computes the values of the basic variables and of the keys.
void ChoiceLp::update_values() {
  Eigen::VectorXd right(rows());
  for (int k = 0; k < rows(); ++k) {
    double sum = limit_[k];
    for (const int key : key_choice_) sum -= rows_[k][key];
    right[k] = sum;
  }
  basic_value_ = inverse_ * right;
  std::fill(key_value_.begin(), key_value_.end(), 1.0);
  for (int position = 0; position < rows(); ++position) {
    const int variable = basic_[position];
    if (variable == kLambda)
      lambda_ = basic_value_[position];
    else if (!is_slack(variable))
      key_value_[group_of_[variable]] -= basic_value_[position];
  }
  steps_ += static_cast<std::int64_t>(rows()) * static_cast<std::int64_t>(key_choice_.size());
}

void ChoiceLp::update_reduced_costs() {
  const std::vector<double> price = prices();
  std::fill(reduced_cost_.begin(), reduced_cost_.end(), 0.0);
  for (int k = 0; k < rows(); ++k)
    if (price[k] > 0)
      for (int c = 0; c < choices(); ++c) reduced_cost_[c] += price[k] * rows_[k][c];
  for (std::size_t group = 0; group < key_choice_.size(); ++group) {
    const double key = reduced_cost_[key_choice_[group]];
    for (int c = group_begin_[group]; c < group_begin_[group + 1]; ++c)
      reduced_cost_[c] = std::max(0.0, reduced_cost_[c] - key);
  }
}

// The position of the basic variable that is furthest below 0; -1: there is none.  A key below 0 is
// exchanged with another choice of its group, so that it is basic.
int ChoiceLp::choose_leaving() {
  int worst = -1;
  double least = 0;
  for (int position = 0; position < rows(); ++position) {
    if (basic_[position] == kLambda) continue;
    // Slacks have the unit of their row, shares are in 0..1.
    const bool slack = is_slack(basic_[position]);
    const double scale =
        slack ? std::max(kTinyPositive,
                         std::abs(lambda_) + std::abs(limit_[basic_[position] - choices()]))
              : 1;
    const double amount = basic_value_[position] / scale;
    if (amount < -kFeasibilityTolerance && amount < least) {
      least = amount;
      worst = position;
    }
  }
  int group = -1;
  for (std::size_t g = 0; g < key_choice_.size(); ++g)
    if (key_value_[g] < -kFeasibilityTolerance && key_value_[g] < least) {
      least = key_value_[g];
      group = static_cast<int>(g);
    }
  return group < 0 ? worst : exchange_key(group);
}

// Makes a basic choice of the group its key; returns the position of the old key, which is now
// basic.
int ChoiceLp::exchange_key(int group) {
  int position = -1;
  for (int p = 0; p < rows(); ++p) {
    const int variable = basic_[p];
    if (variable == kLambda || is_slack(variable) || group_of_[variable] != group) continue;
    if (position < 0 || basic_value_[p] > basic_value_[position]) position = p;
  }
  if (position < 0) return -1;
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(rows());
  for (int p = 0; p < rows(); ++p) {
    const int variable = basic_[p];
    if (variable != kLambda && !is_slack(variable) && group_of_[variable] == group)
      sum += inverse_.row(p);
  }
  inverse_.row(position) = -sum;
  const int old_key = key_choice_[group];
  key_choice_[group] = basic_[position];
  basis_position_[basic_[position]] = -1;
  basic_[position] = old_key;
  basis_position_[old_key] = position;
  std::swap(key_value_[group], basic_value_[position]);
  return position;
}

// Fills pivot_row_: the product of this row of the inverse with each choice, less that of its key.
void ChoiceLp::multiply_choices(const Eigen::RowVectorXd& row) {
  std::fill(pivot_row_.begin(), pivot_row_.end(), 0.0);
  for (int k = 0; k < rows(); ++k) {
    const double factor = row[k];
    if (factor == 0) continue;
    const double* entries = rows_[k].data();
    for (int c = 0; c < choices(); ++c) pivot_row_[c] += factor * entries[c];
  }
  for (std::size_t group = 0; group < key_choice_.size(); ++group) {
    const double base = pivot_row_[key_choice_[group]];
    for (int c = group_begin_[group]; c < group_begin_[group + 1]; ++c) pivot_row_[c] -= base;
  }
  steps_ += static_cast<std::int64_t>(rows()) * choices() / 2 + 2LL * rows() * rows();
}

// The variable that enters the basis for this row of the inverse.  Requires pivot_row_.
ChoiceLp::RatioTest ChoiceLp::choose_entering(const Eigen::RowVectorXd& row) const {
  RatioTest test;
  for (std::size_t group = 0; group < key_choice_.size(); ++group)
    for (int c = group_begin_[group]; c < group_begin_[group + 1]; ++c)
      if (c != key_choice_[group] && basis_position_[c] < 0)
        test.offer(c, pivot_row_[c], reduced_cost_[c]);
  const std::vector<double> price = prices();
  std::vector<char> basic_slack(rows(), 0);
  for (const int variable : basic_)
    if (variable != kLambda && is_slack(variable)) basic_slack[variable - choices()] = 1;
  for (int k = 0; k < rows(); ++k)
    if (!basic_slack[k]) test.offer(choices() + k, row[k], price[k]);
  return test;
}

// Replaces the basic variable at `position`.  Returns false where no variable can enter, after
// moving the prices so that they prove the programme infeasible, or where the pivot is too small.
bool ChoiceLp::pivot(int position) {
  const Eigen::RowVectorXd row = inverse_.row(position);
  multiply_choices(row);
  const RatioTest entering = choose_entering(row);
  if (entering.variable == RatioTest::kNone) {
    // The programme is infeasible: the row of the inverse is a ray of prices.  Along it the bound
    // rises without end; so many times lambda is far above every T that is asked about.
    constexpr double kRayLength = 1e3;
    for (int p = 0; p < rows(); ++p)
      if (basic_[p] == kLambda)
        inverse_.row(p) -= (1 + std::abs(lambda_)) * kRayLength / -basic_value_[position] * row;
    return false;
  }
  const Eigen::VectorXd entries = inverse_ * column(entering.variable);
  const double pivot_entry = entries[position];
  if (std::abs(pivot_entry) < kLeastPivot) return false;
  const Eigen::RowVectorXd pivot_row = row / pivot_entry;
  for (int p = 0; p < rows(); ++p)
    if (p != position && entries[p] != 0) inverse_.row(p) -= entries[p] * pivot_row;
  inverse_.row(position) = pivot_row;
  for (int c = 0; c < choices(); ++c)
    reduced_cost_[c] = std::max(0.0, reduced_cost_[c] + entering.ratio * pivot_row_[c]);
  const int leaving_variable = basic_[position];
  if (!is_slack(leaving_variable)) {
    basis_position_[leaving_variable] = -1;
    reduced_cost_[leaving_variable] = entering.ratio;
  }
  basic_[position] = entering.variable;
  if (!is_slack(entering.variable)) {
    basis_position_[entering.variable] = position;
    reduced_cost_[entering.variable] = 0;
  }
  return true;
}

}  // namespace cosched::dags::proof
