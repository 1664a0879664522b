#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

PackTable::PackEntry& PackTable::entry_with_bound(const std::vector<int>& tasks) {
  const auto [place, is_new] = entries_.try_emplace(tasks);
  PackEntry& entry = place->second;
  if (!is_new) return entry;
  double lower = pricer_.lower_bound(tasks);
  if (tasks.size() > 2) {
    std::vector<int> fewer(tasks.begin() + 1, tasks.end());
    for (std::size_t k = 0;; ++k) {
      const auto known_entry = entries_.find(fewer);
      if (known_entry != entries_.end())
        lower = std::max(lower, known_entry->second.price.lower_bound);
      if (k + 1 >= tasks.size()) break;
      fewer[k] = tasks[k];  // leaves out tasks[k + 1]
    }
  }
  entry.price.lower_bound = lower;
  return entry;
}

const PackPrice& PackTable::exact_price(const std::vector<int>& tasks, std::int64_t max_nodes) {
  PackEntry& entry = entry_with_bound(tasks);
  if (entry.has_exact_price) return entry.price;
  entry.has_exact_price = entry.has_quick_price = true;
  const double known_bound = entry.price.lower_bound;
  if (known_bound < kInfinity) entry.price = pricer_.exact_price(tasks, kInfinity, max_nodes);
  entry.price.lower_bound = std::max(entry.price.lower_bound, known_bound);
  if (entry.price.cost < kInfinity)
    entry.price.lower_bound = std::min(entry.price.lower_bound, entry.price.cost);
  return entry.price;
}

const PackPrice& PackTable::quick_price(const std::vector<int>& tasks) {
  PackEntry& entry = entry_with_bound(tasks);
  if (entry.has_quick_price) return entry.price;
  entry.has_quick_price = true;
  const double known_bound = entry.price.lower_bound;
  if (known_bound < kInfinity) entry.price = pricer_.quick_price(tasks);
  entry.price.lower_bound = std::max(entry.price.lower_bound, known_bound);
  return entry.price;
}

Coschedule coschedule_at_prices(const Instance& instance, PackTable& table, const Packs& packs,
                                std::int64_t max_nodes) {
  Packs priced_packs;
  std::vector<int> procs(instance.tasks());
  const auto add = [&](std::vector<int> tasks) {
    const PackPrice& price = table.exact_price(tasks, max_nodes);
    if (price.cost == kInfinity) return false;
    for (std::size_t k = 0; k < tasks.size(); ++k) procs[tasks[k]] = price.procs[k];
    priced_packs.push_back(std::move(tasks));
    return true;
  };
  for (std::vector<int> pack : packs) {
    std::sort(pack.begin(), pack.end());
    if (pack.empty() || add(pack)) continue;
    for (const int i : pack) add({i});
  }
  return with_procs(instance, priced_packs, procs);
}

}  // namespace cosched::packs::shared
