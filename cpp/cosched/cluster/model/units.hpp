// Node fractions as integers.  Sums of integers do not depend on their order and do
// not drift over hundreds of thousands of placements and removals, so that "does this task
// fit" and "which node has the least load" have one answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster {

/// A whole node's memory: 2^50 units, so that a unit is 9e-16 of a node.
inline constexpr std::int64_t kMemoryUnit = std::int64_t{1} << 50;
/// A whole node's CPU: 2^7 3^2 5^5 7 11 13 units, so that needs in 1/100,000 of a node, or in
/// cores of nodes with up to 16 of them (and with 18, 20, 24, 28, 32, 36, 40, 48, 64, 96, 112,
/// 128), are whole numbers: 0.7 + 0.2 is the same load as 0.8 + 0.1, a tie.  Below 2^32: loads
/// may exceed it 2^31 times.
inline constexpr std::int64_t kCpuUnit = 3'603'600'000;
/// Greedy's tolerance on memory: kExactTolerance of a node.
inline constexpr std::int64_t kMemoryLimit =
    kMemoryUnit + static_cast<std::int64_t>(kExactTolerance * static_cast<double>(kMemoryUnit));

inline std::int64_t memory_units(double fraction) {
  const auto units = std::llround(fraction * static_cast<double>(kMemoryUnit));
  return units < 1 ? 1 : units;
}

inline std::int64_t cpu_units(double fraction) {
  return std::llround(fraction * static_cast<double>(kCpuUnit));
}

/// How many tasks that need `need` memory units each fit on a node with `used` units in use; at
/// most 2^31, which no job exceeds, so that sums over nodes do not overflow.
inline std::int64_t slots(std::int64_t need, std::int64_t used) {
  constexpr std::int64_t kMaxSlots = std::int64_t{1} << 31;
  if (need > kMemoryLimit - used) return 0;  // the usual case, without the division
  return std::min((kMemoryLimit - used) / need, kMaxSlots);
}

}  // namespace cosched::cluster
