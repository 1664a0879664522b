// Prices of packs by their tasks, each of which is computed once.
#pragma once

#include <unordered_map>

#include "cosched/packs/shared/pack_price.hpp"

namespace cosched::packs::shared {

class PackTable {
 public:
  explicit PackTable(const Instance& instance) : pricer_(instance) {}

  struct PackEntry {
    PackPrice price;
    bool has_exact_price = false;  // exact_price() was called
    bool has_quick_price = false;  // quick_price() was called
  };

  /// The entry of `tasks` (increasing), with a lower bound on their price: the greatest of
  /// PackPricer::lower_bound() and of the bounds known of sets with one task less, or the price
  /// itself. References stay valid until clear().
  PackEntry& entry_with_bound(const std::vector<int>& tasks);

  /// The price as exactly as `max_nodes` nodes of branch and bound allow.
  const PackPrice& exact_price(const std::vector<int>& tasks, std::int64_t max_nodes = 50'000);

  /// A price that is at least as good as that of PackPricer::quick_price().
  const PackPrice& quick_price(const std::vector<int>& tasks);

  PackPricer& pricer() { return pricer_; }
  std::size_t size() const { return entries_.size(); }
  /// Removes all entries; references become invalid.
  void clear() { entries_.clear(); }

 private:
  struct TaskSetHash {
    std::size_t operator()(const std::vector<int>& tasks) const {
      std::size_t value = 1469598103934665603ULL;
      for (const int i : tasks) value = (value ^ static_cast<std::size_t>(i)) * 1099511628211ULL;
      return value;
    }
  };
  PackPricer pricer_;
  std::unordered_map<std::vector<int>, PackEntry, TaskSetHash> entries_;
};

/// The co-schedule of these packs, with the processors of their prices.  A pack that does not fit
/// is split into packs of one task.
Coschedule coschedule_at_prices(const Instance& instance, PackTable& table, const Packs& packs,
                                std::int64_t max_nodes = 50'000);

}  // namespace cosched::packs::shared
