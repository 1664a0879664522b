#include "cosched/moldable/minsum_basis.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <numeric>

namespace cosched::moldable {

MinsumBasis::MinsumBasis(const MinsumModel& model)
    : model_(model),
      jobs_(model.jobs()),
      rows_(model.intervals()),
      key_(jobs_, rows_),
      inverse_(rows_, rows_),
      value_(rows_),
      capacity_(rows_),
      in_slots_(jobs_, 0),
      rate_(jobs_, 0) {
  double total = 0;
  for (int j = 0; j < rows_; ++j) total += model.capacity(j);
  scale_ = jobs_ / total;
  for (int j = 0; j < rows_; ++j) capacity_[j] = model.capacity(j) * scale_;
  for (int j = 0; j < rows_; ++j) slot_.push_back({-1, j});
  assign_keys();
  refactor();
}

void MinsumBasis::assign_keys() {
  std::vector<double> density(jobs_);
  for (int i = 0; i < jobs_; ++i) {
    // The cost of the last interval is proportional to the weight.
    const double least = model_.area(i)[rows_ - 1];
    density[i] = least < kInfinity ? model_.cost(i)[rows_] / least : 0;
  }
  std::vector<int> order(jobs_);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return density[a] > density[b]; });
  // room[j] = what is left of capacity_0 + ... + capacity_j; an interval has the least from it on.
  Vector room(rows_);
  std::partial_sum(capacity_.begin(), capacity_.end(), room.begin());
  for (const int i : order) {
    double least = kInfinity;
    for (int j = rows_ - 1; j >= model_.first(i); --j) {
      least = std::min(least, room[j]);
      if (area(i, j) <= least) key_[i] = j;
    }
    for (int j = key_[i]; j < rows_; ++j) room[j] -= area(i, key_[i]);
  }
}

Eigen::VectorXd MinsumBasis::column_of(const Column& column) const {
  Vector found = Vector::Zero(rows_);
  const auto [i, j] = column;
  if (i < 0) {
    found[j] = 1;
    if (j + 1 < rows_) found[j + 1] = -1;
    return found;
  }
  if (j < rows_) found[j] += area(i, j);
  if (key_[i] < rows_) found[key_[i]] -= area(i, key_[i]);
  return found;
}

void MinsumBasis::refactor() {
  Eigen::MatrixXd basis(rows_, rows_);
  for (int p = 0; p < rows_; ++p) basis.col(p) = column_of(slot_[p]);
  inverse_ = basis.partialPivLu().inverse();
  Vector left = capacity_;
  for (int i = 0; i < jobs_; ++i)
    if (key_[i] < rows_) left[key_[i]] -= area(i, key_[i]);
  value_ = inverse_ * left;
  age_ = 0;
}

std::vector<double> MinsumBasis::prices() const {
  Vector cost = Vector::Zero(rows_);
  for (int p = 0; p < rows_; ++p)
    if (const auto [i, j] = slot_[p]; i >= 0) cost[p] = model_.cost(i)[j] - model_.cost(i)[key_[i]];
  const Vector dual = inverse_.transpose() * cost;
  std::vector<double> price(rows_);
  for (int j = 0; j < rows_; ++j) price[j] = -dual[j] * scale_;
  return price;
}

MinsumBasis::Blocking MinsumBasis::ratio_test(const Column& entering, const Vector& alpha,
                                              bool first_leaves) {
  constexpr double kLeastPivot = 1e-9, kSameStep = 1e-12;
  Blocking best;
  const auto consider = [&](double value, double rate, int slot, int job, Column column) {
    if (rate <= kLeastPivot) return;
    const double step = std::max(value, 0.0) / rate, slack = kSameStep * (1 + step);
    bool better = step < best.step - slack;
    if (!better && step <= best.step + slack)
      better = first_leaves ? column < best.column : rate > best.pivot;
    if (better) best = {std::min(step, best.step), rate, slot, job, column};
  };
  // A key has what the job's slots leave of 1.
  if (entering.job >= 0) rate_[entering.job] += 1;
  for (int p = 0; p < rows_; ++p) {
    consider(value_[p], alpha[p], p, -1, slot_[p]);
    if (slot_[p].job < 0) continue;
    in_slots_[slot_[p].job] += value_[p];
    rate_[slot_[p].job] -= alpha[p];
  }
  const auto consider_key = [&](int i) {
    consider(1 - in_slots_[i], rate_[i], -1, i, {i, key_[i]});
    in_slots_[i] = rate_[i] = 0;  // so that each job counts once
  };
  if (entering.job >= 0) consider_key(entering.job);
  for (int p = 0; p < rows_; ++p)
    if (slot_[p].job >= 0) consider_key(slot_[p].job);
  return best;
}

// Makes a slot of the job its key, and the key the column of that slot; returns the slot, -1 if it
// has none.  With col_p and the columns col_p' of the job's other slots changed to -col_p and
// col_p' - col_p, row p of the inverse becomes minus the sum of the job's rows.  `alpha` follows.
int MinsumBasis::swap_key(int job, const Column& entering, Vector& alpha) {
  int slot = -1;
  for (int p = 0; p < rows_ && slot < 0; ++p)
    if (slot_[p].job == job) slot = p;
  if (slot < 0) return -1;
  if (entering.job == job) alpha[slot] -= 1;  // its column is relative to the key, too
  for (int p = slot + 1; p < rows_; ++p)
    if (slot_[p].job == job) {
      inverse_.row(slot) += inverse_.row(p);
      alpha[slot] += alpha[p];
    }
  inverse_.row(slot) *= -1;
  alpha[slot] *= -1;
  std::swap(slot_[slot].interval, key_[job]);
  return slot;
}

double MinsumBasis::enter(Column column, bool first_leaves) {
  Vector alpha = inverse_ * column_of(column);
  const Blocking found = ratio_test(column, alpha, first_leaves);
  if (found.step == kInfinity) return kInfinity;
  value_ -= found.step * alpha;
  int slot = found.slot;
  if (slot < 0) slot = swap_key(found.job, column, alpha);
  if (slot < 0) {  // the column replaces its job's key, no slot changes
    key_[found.job] = column.interval;
    return found.step;  // only a job's column can do that
  }
  value_[slot] = found.step;
  slot_[slot] = column;
  inverse_.row(slot) /= alpha[slot];
  alpha[slot] = 0;
  inverse_.noalias() -= alpha * inverse_.row(slot).eval();
  ++age_;
  return column.job < 0 ? found.step / scale_ : found.step;
}

double MinsumBasis::objective() const {
  double sum = 0;
  for (int i = 0; i < jobs_; ++i) sum += model_.cost(i)[key_[i]];
  for (int p = 0; p < rows_; ++p)
    if (const auto [i, j] = slot_[p]; i >= 0)
      sum += (model_.cost(i)[j] - model_.cost(i)[key_[i]]) * value_[p];
  return sum;
}

}  // namespace cosched::moldable
