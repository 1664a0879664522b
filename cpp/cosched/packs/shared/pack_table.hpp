// Prices of packs by their tasks, each computed once.
#pragma once

#include <unordered_map>

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

  /// A lower bound on the price of `tasks` (increasing): PackPricer::lower, what is known of the
  /// sets of one task less, or the price.  References stay valid.
  Entry& bounded(const std::vector<int>& tasks) {
    const auto [place, is_new] = entries_.try_emplace(tasks);
    Entry& entry = place->second;
    if (!is_new) return entry;
    double lower = pricer_.lower(tasks);
    if (tasks.size() > 2) {
      std::vector<int> fewer(tasks.begin() + 1, tasks.end());
      for (std::size_t k = 0;; ++k) {
        const auto known = entries_.find(fewer);
        if (known != entries_.end()) lower = std::max(lower, known->second.price.lower);
        if (k + 1 >= tasks.size()) break;
        fewer[k] = tasks[k];  // leaves out tasks[k + 1]
      }
    }
    entry.price.lower = lower;
    return entry;
  }

  /// The price as far as `most_nodes` go.
  const Price& exact(const std::vector<int>& tasks, std::int64_t most_nodes = 50'000) {
    Entry& entry = bounded(tasks);
    if (entry.searched) return entry.price;
    entry.searched = entry.quick = true;
    const double known = entry.price.lower;
    if (known < kInfinity) entry.price = pricer_.exact(tasks, kInfinity, most_nodes);
    entry.price.lower = std::max(entry.price.lower, known);
    if (entry.price.cost < kInfinity)
      entry.price.lower = std::min(entry.price.lower, entry.price.cost);
    return entry.price;
  }

  /// At least quick()'s.
  const Price& quick(const std::vector<int>& tasks) {
    Entry& entry = bounded(tasks);
    if (entry.quick) return entry.price;
    entry.quick = true;
    const double known = entry.price.lower;
    if (known < kInfinity) entry.price = pricer_.quick(tasks);
    entry.price.lower = std::max(entry.price.lower, known);
    return entry.price;
  }

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

/// The co-schedule of these packs at their prices; a pack that does not fit becomes packs of one
/// task.
inline Coschedule at_prices(const Instance& instance, PackTable& table, const Packs& packs,
                            std::int64_t most_nodes = 50'000) {
  Packs made;
  std::vector<int> procs(instance.tasks());
  const auto add = [&](std::vector<int> tasks) {
    const Price& price = table.exact(tasks, most_nodes);
    if (price.cost == kInfinity) return false;
    for (std::size_t k = 0; k < tasks.size(); ++k) procs[tasks[k]] = price.procs[k];
    made.push_back(std::move(tasks));
    return true;
  };
  for (std::vector<int> pack : packs) {
    std::sort(pack.begin(), pack.end());
    if (pack.empty() || add(pack)) continue;
    for (const int i : pack) add({i});
  }
  return with_procs(instance, made, procs);
}

}  // namespace cosched::packs::shared
