#include "cosched/moldable/minsum/basis.hpp"

namespace cosched::moldable::minsum {

IntervalBasis::IntervalBasis(const IntervalModel& model)
    : model_(model),
      jobs_(model.jobs()),
      surface_rows_(model.intervals()),
      key_interval_(jobs_, surface_rows_),
      inverse_(surface_rows_, surface_rows_),
      slot_values_(surface_rows_),
      surface_duals_(surface_rows_),
      capacity_(surface_rows_),
      slot_share_(jobs_, 0),
      key_rate_(jobs_, 0) {
  double total = 0;
  for (int j = 0; j < surface_rows_; ++j) total += model.capacity(j);
  scale_ = jobs_ / total;
  for (int j = 0; j < surface_rows_; ++j) capacity_[j] = model.capacity(j) * scale_;
  for (int j = 0; j < surface_rows_; ++j) slot_columns_.push_back({-1, j});
  assign_keys();
  inverse_ = Eigen::MatrixXd::Ones(surface_rows_, surface_rows_)
                 .triangularView<Eigen::Lower>();  // of the y alone
  recompute();
}

double IntervalBasis::enter_column(Column column, bool first_leaves) {
  const double reduced = reduced_cost(column);
  Vector alpha = direction_of(column);
  const BlockingVariable blocking = ratio_test(column, alpha, first_leaves);
  if (blocking.step == kInfinity) return kInfinity;
  slot_values_ -= blocking.step * alpha;
  int slot = blocking.slot;
  if (slot < 0) slot = swap_key(blocking.job, column, alpha);
  if (slot < 0) {  // the column replaces its job's key, no slot changes
    key_interval_[blocking.job] = column.interval;
    return blocking.step;  // only a job's column can do that
  }
  slot_values_[slot] = blocking.step;
  slot_columns_[slot] = column;
  inverse_.row(slot) /= alpha[slot];
  alpha[slot] = 0;
  const Vector row = inverse_.row(slot);
  inverse_.noalias() -= alpha * row.transpose();
  surface_duals_ += reduced * row;
  ++updates_since_refactor_;
  return column.job < 0 ? blocking.step / scale_ : blocking.step;
}

void IntervalBasis::assign_keys() {
  std::vector<double> density(jobs_);
  for (int i = 0; i < jobs_; ++i) {
    // The cost of the last interval is proportional to the weight.
    const double least_room = model_.area(i)[surface_rows_ - 1];
    density[i] = least_room < kInfinity ? model_.cost(i)[surface_rows_] / least_room : 0;
  }
  std::vector<int> order =
      sorted_numbers(jobs_, [&](int a, int b) { return density[a] > density[b]; });
  // room[j] = what is left of capacity_0 + ... + capacity_j; an interval has the least from it
  // on.
  Vector room(surface_rows_);
  std::partial_sum(capacity_.begin(), capacity_.end(), room.begin());
  for (const int i : order) {
    double least_room = kInfinity;
    for (int j = surface_rows_ - 1; j >= model_.first_interval(i); --j) {
      least_room = std::min(least_room, room[j]);
      if (area(i, j) <= least_room) key_interval_[i] = j;
    }
    for (int j = key_interval_[i]; j < surface_rows_; ++j) room[j] -= area(i, key_interval_[i]);
  }
}

void IntervalBasis::recompute() {
  Vector cost(surface_rows_), free_capacity = capacity_;
  for (int p = 0; p < surface_rows_; ++p) cost[p] = cost_of(slot_columns_[p]);
  for (int i = 0; i < jobs_; ++i)
    if (key_interval_[i] < surface_rows_)
      free_capacity[key_interval_[i]] -= area(i, key_interval_[i]);
  slot_values_ = inverse_ * free_capacity;
  surface_duals_ = inverse_.transpose() * cost;
  updates_since_refactor_ = 0;
}

IntervalBasis::BlockingVariable IntervalBasis::ratio_test(const Column& entering,
                                                          const Vector& alpha, bool first_leaves) {
  constexpr double kLeastPivot = kExactTolerance;  // smaller entries are no pivots
  constexpr double kSameStep = kSumTolerance;      // relative: such steps are a tie
  BlockingVariable best;
  const auto consider = [&](double value, double rate, int slot, int job, Column column) {
    if (rate <= kLeastPivot) return;
    const double step = std::max(value, 0.0) / rate, slack = kSameStep * (1 + step);
    bool better = step < best.step - slack;
    if (!better && step <= best.step + slack)
      better = first_leaves ? column < best.column : rate > best.pivot;
    if (better) best = {std::min(step, best.step), rate, slot, job, column};
  };
  // A key has what the job's slots leave of 1.
  if (entering.job >= 0) key_rate_[entering.job] += 1;
  for (int p = 0; p < surface_rows_; ++p) {
    consider(slot_values_[p], alpha[p], p, -1, slot_columns_[p]);
    if (slot_columns_[p].job < 0) continue;
    slot_share_[slot_columns_[p].job] += slot_values_[p];
    key_rate_[slot_columns_[p].job] -= alpha[p];
  }
  const auto consider_key = [&](int i) {
    consider(1 - slot_share_[i], key_rate_[i], -1, i, {i, key_interval_[i]});
    slot_share_[i] = key_rate_[i] = 0;  // so that each job counts once
  };
  if (entering.job >= 0) consider_key(entering.job);
  for (int p = 0; p < surface_rows_; ++p)
    if (slot_columns_[p].job >= 0) consider_key(slot_columns_[p].job);
  return best;
}

int IntervalBasis::swap_key(int job, const Column& entering, Vector& alpha) {
  int slot = -1;
  for (int p = 0; p < surface_rows_ && slot < 0; ++p)
    if (slot_columns_[p].job == job) slot = p;
  if (slot < 0) return -1;
  if (entering.job == job) alpha[slot] -= 1;
  for (int p = slot + 1; p < surface_rows_; ++p)
    if (slot_columns_[p].job == job) {
      inverse_.row(slot) += inverse_.row(p);
      alpha[slot] += alpha[p];
    }
  inverse_.row(slot) *= -1;
  alpha[slot] *= -1;
  std::swap(slot_columns_[slot].interval, key_interval_[job]);
  return slot;
}

}  // namespace cosched::moldable::minsum
