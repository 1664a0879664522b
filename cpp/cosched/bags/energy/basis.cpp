#include "cosched/bags/energy/basis.hpp"

namespace cosched::bags::energy {

MakespanBasis::MakespanBasis(const Instance& instance)
    : instance_(&instance),
      types_(instance.types()),
      machines_(instance.machine_types()),
      seconds_(Table(types_, machines_)),
      joules_(Table(types_, machines_)),
      is_open_(static_cast<std::size_t>(types_) * machines_, 0),
      roles_(is_open_.size(), nonbasic),
      is_slack_basic_(machines_, 1),
      inverse_(Eigen::MatrixXd::Identity(machines_, machines_)) {
  for (int i = 0; i < types_; ++i) {
    const auto n = static_cast<double>(instance.count(i));
    for (int j = 0; j < machines_; ++j) {
      if (!instance.is_allowed(i, j)) continue;
      is_open_[cell(i, j)] = 1;
      seconds_(i, j) = n * instance.etc(i, j) / instance.machines(j);
      joules_(i, j) = n * instance.joules(i, j);
    }
    key_machine_types_.push_back(instance.thriftiest_machine_type(i));
    if (instance.count(i) == 0)
      is_open_[cell(i, key_machine_types_[i])] = 1;  // no tasks: nothing has to leave
    roles_[cell(i, key_machine_types_[i])] = key;
  }
  for (int j = 0; j < machines_; ++j) nonkey_columns_.push_back({-1, j});
  update_values();
}

double MakespanBasis::joules(double makespan) const {
  double sum = 0;
  for (int i = 0; i < types_; ++i) sum += joules_(i, key_machine_types_[i]);
  for (int p = 0; p < machines_; ++p) {
    const auto& [i, j] = nonkey_columns_[p];
    if (i < 0) continue;
    const double share = std::max(value_slopes_[p] * makespan - value_offsets_[p], 0.0);
    sum += (joules_(i, j) - joules_(i, key_machine_types_[i])) * share;
  }
  return sum;
}

Table MakespanBasis::solution(double makespan) const {
  Table x(types_, machines_);
  for (int i = 0; i < types_; ++i)
    x(i, key_machine_types_[i]) = static_cast<double>(instance_->count(i));
  for (int p = 0; p < machines_; ++p) {
    const auto& [i, j] = nonkey_columns_[p];
    if (i < 0) continue;
    const auto n = static_cast<double>(instance_->count(i));
    const double share = std::clamp(value_slopes_[p] * makespan - value_offsets_[p], 0.0, 1.0);
    x(i, j) = n * share;
    x(i, key_machine_types_[i]) = std::max(x(i, key_machine_types_[i]) - n * share, 0.0);
  }
  return x;
}

std::vector<double> MakespanBasis::prices() const {
  const Eigen::VectorXd of_rows = load_prices();
  std::vector<double> result(machines_);
  for (int j = 0; j < machines_; ++j)
    if (instance_->machines(j) > 0) result[j] = std::max(-of_rows[j], 0.0) / instance_->machines(j);
  return result;
}

std::vector<MakespanBasis::BasicVariable> MakespanBasis::closed_single_keys() const {
  std::vector<BasicVariable> keys;
  for (int i = 0; i < types_; ++i)
    if (!is_open_[cell(i, key_machine_types_[i])] &&
        !std::binary_search(types_with_nonkey_.begin(), types_with_nonkey_.end(), i))
      keys.push_back({-1, i});
  return keys;
}

double MakespanBasis::value(const BasicVariable& row, double makespan) const {
  if (row.position >= 0)
    return value_slopes_[row.position] * makespan - value_offsets_[row.position];
  double share = 1;
  for (int p = 0; p < machines_; ++p)
    if (nonkey_columns_[p].type == row.type)
      share -= value_slopes_[p] * makespan - value_offsets_[p];
  return share;
}

double MakespanBasis::slope(const BasicVariable& row) const {
  if (row.position >= 0)
    return std::abs(value_slopes_[row.position]) <= slope_noise_[row.position]
               ? 0
               : value_slopes_[row.position];
  double sum = 0, noise = 0;
  for (int p = 0; p < machines_; ++p)
    if (nonkey_columns_[p].type == row.type) {
      sum -= value_slopes_[p];
      noise += slope_noise_[p];
    }
  return std::abs(sum) <= noise ? 0 : sum;
}

bool MakespanBasis::pivot(BasicVariable& leaving, bool decreases, bool lowest) {
  if (leaving.position < 0) make_nonkey(leaving);
  if (leaving.position >= 0) {
    const BasisColumn entering = ratio_test(leaving.position, decreases, lowest);
    if (entering.machine < 0) return false;
    replace_nonkey(leaving.position, entering);
  } else {  // the only basic variable of its type
    const BasisColumn entering = cheapest_key(leaving.type);
    if (entering.machine < 0) return false;
    roles_[cell(leaving.type, key_machine_types_[leaving.type])] = nonbasic;
    roles_[cell(leaving.type, entering.machine)] = key;
    key_machine_types_[leaving.type] = entering.machine;
  }
  update_values();
  return true;
}

void MakespanBasis::update_values() {
  Eigen::VectorXd load = Eigen::VectorXd::Zero(machines_);
  for (int i = 0; i < types_; ++i)
    load[key_machine_types_[i]] += seconds_(i, key_machine_types_[i]);
  value_slopes_ = inverse_.rowwise().sum();
  value_offsets_ = inverse_ * load;
  slope_noise_ = kPivotNoise * inverse_.cwiseAbs().rowwise().sum();
  types_with_nonkey_.clear();
  for (const BasisColumn& basic : nonkey_columns_)
    if (basic.type >= 0) types_with_nonkey_.push_back(basic.type);
  std::sort(types_with_nonkey_.begin(), types_with_nonkey_.end());
  types_with_nonkey_.erase(std::unique(types_with_nonkey_.begin(), types_with_nonkey_.end()),
                           types_with_nonkey_.end());
}

void MakespanBasis::make_nonkey(BasicVariable& row) {
  const int i = row.type;
  int p = 0;
  while (p < machines_ && nonkey_columns_[p].type != i) ++p;
  if (p == machines_) return;
  // Column p is now relative to the new key: its negative; those of the same type lose it too.
  inverse_.row(p) *= -1;
  for (int q = p + 1; q < machines_; ++q)
    if (nonkey_columns_[q].type == i) inverse_.row(p) -= inverse_.row(q);
  std::swap(nonkey_columns_[p].machine, key_machine_types_[i]);
  roles_[cell(i, key_machine_types_[i])] = key;
  roles_[cell(i, nonkey_columns_[p].machine)] = nonkey;
  row = {p, -1};
  update_values();
}

MakespanBasis::BasisColumn MakespanBasis::ratio_test(int position, bool decreases,
                                                     bool lowest) const {
  const Eigen::VectorXd row = inverse_.row(position) * (decreases ? 1.0 : -1.0);
  const double row_noise = kPivotNoise * row.cwiseAbs().sum();
  const Eigen::VectorXd price = load_prices();
  BasisColumn best{-1, -1};
  double best_ratio = kInfinity, best_push = 0;
  const auto consider = [&](const BasisColumn& basic, double push, double noise, double cost) {
    if (push <= noise) return;
    const double ratio = std::max(cost, 0.0) / push;
    const bool better = ratio < best_ratio || (ratio == best_ratio && !lowest && push > best_push);
    if (best.machine >= 0 && !better) return;
    best = basic;
    best_ratio = ratio;
    best_push = push;
  };
  for (int j = 0; j < machines_; ++j)
    if (!is_slack_basic_[j]) consider({-1, j}, row[j], row_noise, -price[j]);
  const auto placed = [&](int i, int j) {
    const double seconds = seconds_(i, j), paid = price[j] * seconds;
    return ColumnEffect{seconds, row[j] * seconds, joules_(i, j) - paid,
                        joules_(i, j) + std::abs(paid)};
  };
  for (int i = 0; i < types_; ++i) {
    // A column that enters takes its tasks from the key of its type: the difference counts.
    const ColumnEffect on_key = placed(i, key_machine_types_[i]);
    for (int j = 0; j < machines_; ++j) {
      if (!is_open_[cell(i, j)] || roles_[cell(i, j)] != nonbasic) continue;
      const ColumnEffect on_j = placed(i, j);
      const double noise = row_noise * (on_j.seconds + on_key.seconds);
      const double cost = on_j.cost - on_key.cost;
      const bool free = cost <= kCostNoise * (on_j.cost_terms + on_key.cost_terms);
      consider({i, j}, on_j.push - on_key.push, noise, free ? 0 : cost);
    }
  }
  return best;
}

MakespanBasis::BasisColumn MakespanBasis::cheapest_key(int type) const {
  const Eigen::VectorXd price = load_prices();
  BasisColumn best{-1, -1};
  double least = kInfinity;
  for (int j = 0; j < machines_; ++j) {
    if (!is_open_[cell(type, j)] || j == key_machine_types_[type]) continue;
    const double cost = joules_(type, j) - price[j] * seconds_(type, j);
    if (best.machine < 0 || cost < least) {
      best = {type, j};
      least = cost;
    }
  }
  return best;
}

Eigen::VectorXd MakespanBasis::load_prices() const {
  Eigen::VectorXd cost = Eigen::VectorXd::Zero(machines_);
  for (int p = 0; p < machines_; ++p) {
    const auto& [i, j] = nonkey_columns_[p];
    if (i >= 0) cost[p] = joules_(i, j) - joules_(i, key_machine_types_[i]);
  }
  return inverse_.transpose() * cost;
}

Eigen::VectorXd MakespanBasis::column_of(const BasisColumn& basic) const {
  Eigen::VectorXd column = Eigen::VectorXd::Zero(machines_);
  if (basic.type < 0) {
    column[basic.machine] = 1;
  } else {
    column[basic.machine] += seconds_(basic.type, basic.machine);
    column[key_machine_types_[basic.type]] -= seconds_(basic.type, key_machine_types_[basic.type]);
  }
  return column;
}

void MakespanBasis::replace_nonkey(int position, const BasisColumn& entering) {
  set_role(nonkey_columns_[position], nonbasic);
  nonkey_columns_[position] = entering;
  set_role(entering, nonkey);
  ++updates_since_refactor_;
  if (updates_since_refactor_ >= kUpdatesPerFactor) return refactor();
  const Eigen::VectorXd step = inverse_ * column_of(entering);
  inverse_.row(position) /= step[position];
  for (int q = 0; q < machines_; ++q)
    if (q != position && step[q] != 0) inverse_.row(q) -= step[q] * inverse_.row(position);
}

}  // namespace cosched::bags::energy
