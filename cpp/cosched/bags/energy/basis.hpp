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

/// Sums smaller than this, relative to their terms, are rounding.
inline constexpr double kPivotNoise = 1e-12;
inline constexpr int kUpdatesPerFactor = 40;
/// Reduced costs below this, relative to their terms, are 0.
inline constexpr double kCostNoise = 1e-15;

class Basis {
 public:
  /// A basic variable: the nonkey at `position`, or the key of `type` where position < 0.
  struct Row {
    int position = -1, type = -1;
    bool none() const { return position < 0 && type < 0; }
  };

  /// The basis that is optimal at large makespans: each type on its thriftiest machine type, all
  /// slacks basic.  All columns are open.  Keeps a reference to the instance.
  explicit Basis(const Instance& instance)
      : instance_(&instance),
        types_(instance.types()),
        machines_(instance.machine_types()),
        seconds_(Table(types_, machines_)),
        joules_(Table(types_, machines_)),
        open_(static_cast<std::size_t>(types_) * machines_, 0),
        role_(open_.size(), nonbasic),
        slack_basic_(machines_, 1),
        inverse_(Eigen::MatrixXd::Identity(machines_, machines_)) {
    for (int i = 0; i < types_; ++i) {
      const auto n = static_cast<double>(instance.count(i));
      for (int j = 0; j < machines_; ++j) {
        if (!instance.allowed(i, j)) continue;
        open_[cell(i, j)] = 1;
        seconds_(i, j) = n * instance.etc(i, j) / instance.machines(j);
        joules_(i, j) = n * instance.joules(i, j);
      }
      key_.push_back(instance.thriftiest(i));
      if (instance.count(i) == 0) open_[cell(i, key_[i])] = 1;  // no tasks: nothing has to leave
      role_[cell(i, key_[i])] = key;
    }
    for (int j = 0; j < machines_; ++j) nonkey_.push_back({-1, j});
    update_values();
  }

  int types() const { return types_; }
  int machine_types() const { return machines_; }
  /// Column (i, j) may not be used any more.
  void close(int i, int j) { open_[cell(i, j)] = 0; }

  /// Dynamic energy and x at a makespan where the basis is feasible.  O(M) and O(T M).
  double joules(double makespan) const {
    double sum = 0;
    for (int i = 0; i < types_; ++i) sum += joules_(i, key_[i]);
    for (int p = 0; p < machines_; ++p) {
      const auto& [i, j] = nonkey_[p];
      if (i < 0) continue;
      const double share = std::max(rise_[p] * makespan - level_[p], 0.0);
      sum += (joules_(i, j) - joules_(i, key_[i])) * share;
    }
    return sum;
  }

  Table solution(double makespan) const {
    Table x(types_, machines_);
    for (int i = 0; i < types_; ++i) x(i, key_[i]) = static_cast<double>(instance_->count(i));
    for (int p = 0; p < machines_; ++p) {
      const auto& [i, j] = nonkey_[p];
      if (i < 0) continue;
      const auto n = static_cast<double>(instance_->count(i));
      const double share = std::clamp(rise_[p] * makespan - level_[p], 0.0, 1.0);
      x(i, j) = n * share;
      x(i, key_[i]) = std::max(x(i, key_[i]) - n * share, 0.0);
    }
    return x;
  }

  /// What a second on a machine of each type is worth, in joules: dual prices of the load rows.
  std::vector<double> prices() const {
    const Eigen::VectorXd of_rows = load_prices();
    std::vector<double> result(machines_);
    for (int j = 0; j < machines_; ++j)
      if (instance_->machines(j) > 0)
        result[j] = std::max(-of_rows[j], 0.0) / instance_->machines(j);
    return result;
  }

  /// Basic variables whose values may depend on the makespan, nonkeys first.
  std::vector<Row> rows() const {
    std::vector<Row> all;
    for (int p = 0; p < machines_; ++p) all.push_back({p, -1});
    for (const int i : active_) all.push_back({-1, i});
    return all;
  }

  /// Keys in closed columns that rows() does not list (their share is 1).
  std::vector<Row> closed_lone_keys() const {
    std::vector<Row> found;
    for (int i = 0; i < types_; ++i)
      if (!open_[cell(i, key_[i])] && !std::binary_search(active_.begin(), active_.end(), i))
        found.push_back({-1, i});
    return found;
  }

  bool closed(const Row& row) const {
    if (row.position < 0) return !open_[cell(row.type, key_[row.type])];
    const Basic& basic = nonkey_[row.position];
    return basic.type >= 0 && !open_[cell(basic.type, basic.machine)];
  }

  bool slack(const Row& row) const { return row.position >= 0 && nonkey_[row.position].type < 0; }
  /// Share x_ij / T_i in 0..1, or seconds of a slack.
  double value(const Row& row, double makespan) const {
    if (row.position >= 0) return rise_[row.position] * makespan - level_[row.position];
    double share = 1;
    for (int p = 0; p < machines_; ++p)
      if (nonkey_[p].type == row.type) share -= rise_[p] * makespan - level_[p];
    return share;
  }

  /// d value / d makespan; exactly zero where it is rounding.
  double slope(const Row& row) const {
    if (row.position >= 0)
      return std::abs(rise_[row.position]) <= noise_[row.position] ? 0 : rise_[row.position];
    double sum = 0, noise = 0;
    for (int p = 0; p < machines_; ++p)
      if (nonkey_[p].type == row.type) {
        sum -= rise_[p];
        noise += noise_[p];
      }
    return std::abs(sum) <= noise ? 0 : sum;
  }

  /// Number of the variable, in 0..M (T + 1) - 1: the order that breaks ties.
  int order(const Row& row) const {
    const Basic basic = row.position >= 0 ? nonkey_[row.position] : Basic{row.type, key_[row.type]};
    return basic.type < 0 ? basic.machine
                          : machines_ + static_cast<int>(cell(basic.type, basic.machine));
  }

  /// Dual simplex step: `leaving` decreases to zero (or increases to it) and becomes nonbasic;
  /// what enters keeps the reduced costs >= 0; ties: the larger pivot, or with `lowest` the
  /// lowest number.  False where no column can take its place: no x makes it zero.  `leaving` then
  /// names the same variable as before, perhaps in another form.
  bool pivot(Row& leaving, bool decreases, bool lowest) {
    if (leaving.position < 0) make_nonkey(leaving);
    if (leaving.position >= 0) {
      const Basic entering = ratio_test(leaving.position, decreases, lowest);
      if (entering.machine < 0) return false;
      replace(leaving.position, entering);
    } else {  // the only basic variable of its type
      const Basic entering = cheapest_key(leaving.type);
      if (entering.machine < 0) return false;
      role_[cell(leaving.type, key_[leaving.type])] = nonbasic;
      role_[cell(leaving.type, entering.machine)] = key;
      key_[leaving.type] = entering.machine;
    }
    update_values();
    return true;
  }

 private:
  // What all tasks of a type on one machine type mean in the dual ratio test.
  struct Placed {
    double seconds;     // of mean load
    double push;        // how fast the leaving variable goes to zero
    double cost;        // joules less what the load costs at the prices of the basis
    double cost_terms;  // sum of the sizes of the two: what rounding in `cost` is relative to
  };

  struct Basic {
    int type;     // -1: the slack of `machine`
    int machine;  // type; -1: none
  };
  enum Role : char { nonbasic, key, nonkey };

  Eigen::Index cell(int i, int j) const { return static_cast<Eigen::Index>(i) * machines_ + j; }
  void update_values() {
    Eigen::VectorXd load = Eigen::VectorXd::Zero(machines_);
    for (int i = 0; i < types_; ++i) load[key_[i]] += seconds_(i, key_[i]);
    rise_ = inverse_.rowwise().sum();
    level_ = inverse_ * load;
    noise_ = kPivotNoise * inverse_.cwiseAbs().rowwise().sum();
    active_.clear();
    for (const Basic& basic : nonkey_)
      if (basic.type >= 0) active_.push_back(basic.type);
    std::sort(active_.begin(), active_.end());
    active_.erase(std::unique(active_.begin(), active_.end()), active_.end());
  }

  // The key of row.type changes places with the first nonkey of that type, if there is one.
  void make_nonkey(Row& row) {
    const int i = row.type;
    int p = 0;
    while (p < machines_ && nonkey_[p].type != i) ++p;
    if (p == machines_) return;
    // Column p is now relative to the new key: its negative; those of the same type lose it too.
    inverse_.row(p) *= -1;
    for (int q = p + 1; q < machines_; ++q)
      if (nonkey_[q].type == i) inverse_.row(p) -= inverse_.row(q);
    std::swap(nonkey_[p].machine, key_[i]);
    role_[cell(i, key_[i])] = key;
    role_[cell(i, nonkey_[p].machine)] = nonkey;
    row = {p, -1};
    update_values();
  }

  // Dual ratio test: among the columns that push the leaving variable towards zero, the one whose
  // reduced cost is used up first; ties: the larger pivot, or the lowest number when stalling.
  Basic ratio_test(int position, bool decreases, bool lowest) const {
    const Eigen::VectorXd row = inverse_.row(position) * (decreases ? 1.0 : -1.0);
    const double row_noise = kPivotNoise * row.cwiseAbs().sum();
    const Eigen::VectorXd price = load_prices();
    Basic best{-1, -1};
    double best_ratio = kInfinity, best_push = 0;
    const auto consider = [&](const Basic& basic, double push, double noise, double cost) {
      if (push <= noise) return;
      const double ratio = std::max(cost, 0.0) / push;
      const bool better =
          ratio < best_ratio || (ratio == best_ratio && !lowest && push > best_push);
      if (best.machine >= 0 && !better) return;
      best = basic;
      best_ratio = ratio;
      best_push = push;
    };
    for (int j = 0; j < machines_; ++j)
      if (!slack_basic_[j]) consider({-1, j}, row[j], row_noise, -price[j]);
    const auto placed = [&](int i, int j) {
      const double seconds = seconds_(i, j), paid = price[j] * seconds;
      return Placed{seconds, row[j] * seconds, joules_(i, j) - paid,
                    joules_(i, j) + std::abs(paid)};
    };
    for (int i = 0; i < types_; ++i) {
      // A column that enters takes its tasks from the key of its type: the difference counts.
      const Placed on_key = placed(i, key_[i]);
      for (int j = 0; j < machines_; ++j) {
        if (!open_[cell(i, j)] || role_[cell(i, j)] != nonbasic) continue;
        const Placed on_j = placed(i, j);
        const double noise = row_noise * (on_j.seconds + on_key.seconds);
        const double cost = on_j.cost - on_key.cost;
        const bool free = cost <= kCostNoise * (on_j.cost_terms + on_key.cost_terms);
        consider({i, j}, on_j.push - on_key.push, noise, free ? 0 : cost);
      }
    }
    return best;
  }

  // What replaces the only basic variable of a type at least reduced cost.
  Basic cheapest_key(int type) const {
    const Eigen::VectorXd price = load_prices();
    Basic best{-1, -1};
    double least = kInfinity;
    for (int j = 0; j < machines_; ++j) {
      if (!open_[cell(type, j)] || j == key_[type]) continue;
      const double cost = joules_(type, j) - price[j] * seconds_(type, j);
      if (best.machine < 0 || cost < least) {
        best = {type, j};
        least = cost;
      }
    }
    return best;
  }

  // Dual prices of the load rows, joules a second of mean load: all <= 0.
  Eigen::VectorXd load_prices() const {
    Eigen::VectorXd cost = Eigen::VectorXd::Zero(machines_);
    for (int p = 0; p < machines_; ++p)
      if (const auto& [i, j] = nonkey_[p]; i >= 0) cost[p] = joules_(i, j) - joules_(i, key_[i]);
    return inverse_.transpose() * cost;
  }

  Eigen::VectorXd column_of(const Basic& basic) const {
    Eigen::VectorXd column = Eigen::VectorXd::Zero(machines_);
    if (basic.type < 0) {
      column[basic.machine] = 1;
    } else {
      column[basic.machine] += seconds_(basic.type, basic.machine);
      column[key_[basic.type]] -= seconds_(basic.type, key_[basic.type]);
    }
    return column;
  }

  void set_role(const Basic& basic, Role role) {
    if (basic.type < 0)
      slack_basic_[basic.machine] = role != nonbasic;
    else
      role_[cell(basic.type, basic.machine)] = role;
  }

  // `entering` takes the place of nonkey `position` in the basis.
  void replace(int position, const Basic& entering) {
    set_role(nonkey_[position], nonbasic);
    nonkey_[position] = entering;
    set_role(entering, nonkey);
    if (++updates_ >= kUpdatesPerFactor) return refactor();
    const Eigen::VectorXd step = inverse_ * column_of(entering);
    inverse_.row(position) /= step[position];
    for (int q = 0; q < machines_; ++q)
      if (q != position && step[q] != 0) inverse_.row(q) -= step[q] * inverse_.row(position);
  }

  void refactor() {
    Eigen::MatrixXd matrix(machines_, machines_);
    for (int p = 0; p < machines_; ++p) matrix.col(p) = column_of(nonkey_[p]);
    inverse_ = opt::inverse_of(matrix);
    if (!inverse_.allFinite()) throw SolverError("energy front: singular basis");
    updates_ = 0;
  }

  const Instance* instance_;
  int types_, machines_;
  // In shares z_ij = x_ij / T_i, which are in 0..1 whatever the number of tasks:
  Table seconds_;  // T_i ETC_ij / M_j: what share 1 adds to the mean load of machine type j
  Table joules_;   // T_i joules(i, j)
  std::vector<char> open_;  // T x M

  std::vector<int> key_;       // machine type of each type's key
  std::vector<Basic> nonkey_;  // M of them
  std::vector<char> role_;     // T x M
  std::vector<char> slack_basic_;
  Eigen::MatrixXd inverse_;       // of the M x M matrix of nonkey columns relative to their keys
  Eigen::VectorXd rise_, level_;  // values of the nonkeys: rise_ makespan - level_
  Eigen::VectorXd noise_;         // what of rise_ is rounding
  std::vector<int> active_;       // types with a nonkey, ascending
  int updates_ = 0;               // since the last refactorisation
};

}  // namespace cosched::bags::energy
