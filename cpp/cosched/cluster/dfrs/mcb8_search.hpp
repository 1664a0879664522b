// The search for the best target that MCB8 can pack (Casanova, Stillwell, Vivien 2011, sections 4.3
// and 4.7).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cosched/cluster/dfrs/mcb8.hpp"

namespace cosched::cluster::dfrs {

/// CPU requirements of the items, by kind, for a target in [0, 1].
struct CpuRequirements {
  std::vector<double> cpu;
  std::vector<int> kinds_by_cpu;  // by decreasing cpu, ties by number
};

/// Fills `requirements` for a target; false if no CPU share of an item that `mcb8` still
/// packs reaches it.
using Target = std::function<bool(double target, const Mcb8& mcb8, CpuRequirements& requirements)>;

/// Target = yield Y of every item: requirement Y c_k for the items of kind k.
Target yield_target(std::vector<double> cpu);

/// Target = Z, inverse of the stretch estimated for the end of the next period T:
/// y = max(0, (Z (ft + T) - vt) / T), infeasible where y > 1.  Each item is a kind.
Target stretch_target(std::vector<double> cpu, std::vector<double> flow_time,
                      std::vector<double> virtual_time, double period);

/// 1 if it can be packed; else, if 0 (memory alone) can be, the feasible end of a
/// bisection of [0, 1] down to `accuracy`, its packing saved in `mcb8`; else nullopt.
std::optional<double> find_best_target(Mcb8& mcb8, const Target& target, double accuracy);

inline constexpr double kYieldAccuracy = 0.01;
inline constexpr double kStretchAccuracy = 1e-4;

}  // namespace cosched::cluster::dfrs
