// Prices of packs by their tasks, each computed once.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "cosched/packs/shared/pack_price.hpp"

namespace cosched::packs::shared {

class PackTable {
 public:
  explicit PackTable(const Instance& instance) : pricer_(instance) {}

  struct Entry {
    Price price;
    bool searched = false;  // exact() was called
    bool quick = false;     // quick() was
  };

  /// A lower bound on the price of `tasks` (increasing): PackPricer::lower, what is known of the sets of one task
  /// less, or the price.  References stay valid.
  Entry& bounded(const std::vector<int>& tasks);
  /// The price as far as `most_nodes` go.
  const Price& exact(const std::vector<int>& tasks, std::int64_t most_nodes = 50'000);
  /// At least quick()'s.
  const Price& quick(const std::vector<int>& tasks);

  PackPricer& pricer() { return pricer_; }
  std::size_t size() const { return entries_.size(); }
  /// Forgets all, where it has grown too large; no reference is valid then.
  void forget() { entries_.clear(); }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<int>& tasks) const {
      std::size_t value = 1469598103934665603ULL;
      for (const int i : tasks) value = (value ^ static_cast<std::size_t>(i)) * 1099511628211ULL;
      return value;
    }
  };
  PackPricer pricer_;
  std::unordered_map<std::vector<int>, Entry, Hash> entries_;
};

/// The co-schedule of these packs at their prices; a pack that does not fit becomes packs of one task.
Coschedule at_prices(const Instance& instance, PackTable& table, const Packs& packs,
                     std::int64_t most_nodes = 50'000);

}  // namespace cosched::packs::shared
