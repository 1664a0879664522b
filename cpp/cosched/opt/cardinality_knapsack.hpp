// 0-1 knapsack with a limit on the number of items.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::opt {

struct KnapsackItem {
  int weight;    // >= 0
  double value;  // > 0
};

/// Chooses items of total weight <= capacity, at most `limit` of them, of greatest total value.
/// Keeps its memory between calls, for a great many small problems.
class CardinalityKnapsack {
 public:
  /// Returns an upper bound on the value of every choice.  It is the optimum, and chosen() a
  /// choice that reaches it, unless
  ///   - it is at most `worth` (chosen() may then be empty), or
  ///   - the table would pass kMaxCells: bound and choice then come from a Lagrange multiplier
  ///     on the limit, and chosen() may fall short of the bound.
  /// O(items capacity) if the limit does not bind or the value is at most `worth`, else
  /// O(items capacity limit).
  double solve(const std::vector<KnapsackItem>& items, int capacity, int limit, double worth);

  /// Indices into the items of the last call, increasing.
  const std::vector<int>& chosen() const { return chosen_; }

  /// Work so far: table cells computed.
  std::int64_t operations() const { return operations_; }

  static constexpr std::int64_t kMaxCells = 1 << 21;

 private:
  double without_limit(const std::vector<KnapsackItem>& items, int capacity, double fee);
  void trace_without_limit(const std::vector<KnapsackItem>& items, int capacity);
  double with_limit(const std::vector<KnapsackItem>& items, int capacity, int limit);
  double with_multiplier(const std::vector<KnapsackItem>& items, int capacity, int limit,
                         double bound);

  std::vector<double> cells_;
  std::vector<int> chosen_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::opt
