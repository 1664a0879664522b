// Bytes in one memory over time, and the earliest start at which a task finds room in it.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::dags::list {

/// Relative tolerance for sums of bytes that are added in different orders.
inline constexpr double kByteTolerance = kSumTolerance;

/// The bytes that a task needs in the memory where it runs.
struct MemoryDemand {
  /// (seconds, bytes) of data fetched from other memories, by decreasing seconds: it is there from
  /// so long before the start.
  std::vector<std::pair<double, double>> fetched;
  double fetched_bytes = 0;  ///< of all that, until the end
  double output_bytes = 0;   ///< from the start on, until the successors are placed
};

/// Bytes in one memory over time.
class MemoryProfile {
 public:
  explicit MemoryProfile(double capacity) : capacity_(capacity) {}

  /// The earliest start >= ready from which the demand fits, forever; infinity: there is none.
  double earliest_start(double ready, double duration, const MemoryDemand& demand) const;

  /// Adds `bytes`, which may be negative, from one time until another.
  void add_bytes(double from, double bytes, double to = std::numeric_limits<double>::infinity());

 private:
  using Steps = std::map<double, double>;

  Steps::iterator split(double time);
  double next_start(Steps::const_iterator step, double start, double duration,
                    const MemoryDemand& demand) const;

  double capacity_;
  Steps used_bytes_{{0.0, 0.0}};  // from each key on
};

}  // namespace cosched::dags::list
