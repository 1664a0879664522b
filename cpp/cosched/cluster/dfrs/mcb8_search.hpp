// The search for the best target that MCB8 can pack, and its use by policies
// (Casanova, Stillwell, Vivien 2011, sections 4.3 and 4.7).
#pragma once

#include <functional>

#include "cosched/cluster/dfrs/machine.hpp"
#include "cosched/cluster/dfrs/mcb8.hpp"
#include "cosched/cluster/dfrs/policy_name.hpp"

namespace cosched::cluster::dfrs {

/// CPU requirements of the items, by kind, for a target in [0, 1].
struct Requirements {
  std::vector<double> cpu;
  std::vector<int> by_cpu;  // kinds by decreasing cpu, ties by number
};

/// Fills `requirements` for a target; false if no CPU share of an item that `mcb8` still
/// packs reaches it.
using Target = std::function<bool(double target, const Mcb8& mcb8, Requirements& requirements)>;

/// Target = yield Y of every item: requirement Y c_k for the items of kind k.
Target yield_target(std::vector<double> cpu);

/// Target = Z, inverse of the stretch estimated for the end of the next period T:
/// y = max(0, (Z (ft + T) - vt) / T), infeasible where y > 1.  Each item is a kind.
Target stretch_target(std::vector<double> cpu, std::vector<double> flow_time,
                      std::vector<double> virtual_time, double period);

/// 1 if it can be packed; else, if 0 (memory alone) can be, the feasible end of a
/// bisection of [0, 1] down to `accuracy`, its packing kept in `mcb8`; else nullopt.
std::optional<double> best_target(Mcb8& mcb8, const Target& target, double accuracy);

inline constexpr double kYieldAccuracy = 0.01;
inline constexpr double kStretchAccuracy = 1e-4;

struct Remapped {
  double target;  // reached
  double cut;     // for the next call
};

/// Remaps the whole machine: all jobs in the system, the lowest priorities dropped until
/// the memory sum fits, then until MCB8 packs the rest.  Running jobs below the limit keep
/// their nodes.  `period` set: MCB8-stretch for that period, else MCB8.  `cut` only saves time:
/// jobs of less priority are looked at only if the others are not enough; 0 at first, then that of
/// the last call.
Remapped remap(Machine& machine, Limit limit, double limit_seconds, std::optional<double> period,
               double cut);

}  // namespace cosched::cluster::dfrs
