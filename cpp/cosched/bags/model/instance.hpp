// Energy-aware profit maximising scheduling of a bag of tasks (Li, Liu, Zhang, Cai 2016, section
// II): T task types with T_i identical tasks each, M machine types with M_j identical machines.
//
// Notation = code: T = types(), M = machine_types(), T_i = count(i), M_j = machines(j),
// ETC_ij = etc(i, j) seconds, APC_ij = apc()(i, j) watts, p = price(), c = energy_cost().
//
// Two extensions that the paper names (section V), after Tarplee, Maciejewski, Siegel 2014:
//
// * Idle power.  A machine of type j that runs nothing draws P_j = idle_power[j] watts until the
//   bag ends (the paper's base model turns it off: P_j = 0).  So
//     E(x) = sum_ij x_ij (APC_ij - P_j) ETC_ij + I makespan,   I = sum_j M_j P_j,
//   and (p - c E)/makespan = (p - c D(x))/makespan - c I with the *dynamic* energy D(x), the first
//   sum: idle power changes the weights and shifts every profit rate by the same constant.
// * Power cap.  The power of all machines together, averaged over the makespan, is at most P:
//   D(x) <= (P - I) makespan.  A schedule that is too hot can always wait, so the cap never makes
//   an instance infeasible (for P > I): it lengthens makespans.
#pragma once

#include <cstdint>

#include "cosched/core/assert.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/times.hpp"

namespace cosched::bags {

/// counts(i, j) = tasks of type i on machines of type j.
using Counts = Matrix<std::int64_t>;

/// What the paper's base model leaves out.
struct Extensions {
  std::vector<char> allowed;       // T x M by rows: may type i run on machine type j?  empty: all
  std::vector<double> idle_power;  // P_j, watts; empty: 0
  double power_cap = kInfinity;    // P, watts
};

/// Immutable.  Invariants: T >= 1, M >= 1; counts and machines >= 0, from 1 to kMostTasks and
/// kMostMachines in all; where a pair is allowed M_j > 0, 0 < ETC, 0 < APC, P_j <= APC_ij; each
/// type with tasks is allowed somewhere; the sums of all times and energies are finite doubles; p,
/// c >= 0; P > I.  A type with T_i = 0, or with M_j = 0, changes nothing but the shape of what is
/// returned.
class Instance {
 public:
  static constexpr std::int64_t kMostTasks = std::int64_t{1} << 53;  // exact as doubles
  static constexpr std::int64_t kMostMachines = 10'000'000;          // schedules list machines

  /// Throws InvalidInstance that names the first breach.  O(T M).
  Instance(std::vector<std::int64_t> counts, std::vector<std::int64_t> machines, Table etc,
           Table apc, double price, double energy_cost, Extensions extensions = {});

  int types() const { return static_cast<int>(counts_.size()); }
  int machine_types() const { return static_cast<int>(machines_.size()); }
  std::int64_t count(int i) const { return counts_[i]; }
  int machines(int j) const { return static_cast<int>(machines_[j]); }
  bool is_allowed(int i, int j) const { return machines_[j] > 0 && etc_(i, j) < kInfinity; }
  /// Seconds; infinity where type i may not run on machine type j.
  double etc(int i, int j) const { return etc_(i, j); }
  /// (APC_ij - P_j) ETC_ij: joules of one task above idling; infinity where it may not run.
  double joules(int i, int j) const { return joules_(i, j); }
  double price() const { return price_; }
  double energy_cost() const { return energy_cost_; }
  /// I = sum_j M_j P_j, watts.
  double idle_power() const { return idle_power_; }
  /// P - I, watts: what tasks may draw above idling; infinity without a cap.
  double power_above_idle() const { return power_above_idle_; }

  /// Machine type of least dynamic energy for type i; ties: the lowest.  Any, where T_i = 0.
  int thriftiest_machine_type(int i) const { return thriftiest_machine_types_[i]; }
  /// E_min = sum_i T_i min_j joules(i, j): least dynamic energy, whatever the makespan.
  double least_joules() const { return least_joules_; }

  /// Least bag time in which `dynamic_joules` respect the power cap (0 without a cap).
  double least_period(double dynamic_joules) const { return dynamic_joules / power_above_idle_; }
  /// (p - c E)/makespan for that dynamic energy.  Requires makespan > 0.
  double profit_rate(double dynamic_joules, double makespan) const {
    COSCHED_ASSERT(makespan > 0);
    return (price_ - energy_cost_ * dynamic_joules) / makespan - energy_cost_ * idle_power_;
  }

  const std::vector<std::int64_t>& counts() const { return counts_; }
  const std::vector<std::int64_t>& all_machines() const { return machines_; }
  const Table& etc() const { return etc_; }
  const Table& apc() const { return apc_; }
  const Table& all_joules() const { return joules_; }

 private:
  void check_price_and_cost() const;
  void check_pairs(const std::vector<char>& allowed);
  void set_joules(const std::vector<double>& idle);
  void check_sums();
  void limit_power(const std::vector<double>& idle, double power_cap);

  std::vector<std::int64_t> counts_, machines_;
  Table etc_, apc_, joules_;
  double price_, energy_cost_;
  double idle_power_ = 0, power_above_idle_ = kInfinity, least_joules_ = 0;
  std::vector<int> thriftiest_machine_types_;
};

}  // namespace cosched::bags
