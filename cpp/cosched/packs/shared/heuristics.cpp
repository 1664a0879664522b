#include "cosched/packs/shared/heuristics.hpp"

#include <algorithm>

#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/search/local_search.hpp"

namespace cosched::packs::shared {
namespace {

double sum_of_prices(PackTable& table, const Packs& packs) {
  double sum = 0;
  for (const std::vector<int>& pack : packs) sum += table.exact_price(pack, kSearchNodes).cost;
  return sum;
}

// Splits packs, first fit, where slow-downs cost more than sharing the machine saves.
Packs part_packs(PackTable& table, const Packs& packs) {
  Packs result;
  for (const std::vector<int>& pack : packs) {
    Packs parts;
    for (const int i : pack) {
      const double alone = table.quick_price({i}).cost;
      const auto try_join = [&](std::vector<int>& part) {
        std::vector<int> larger = insert_task(part, i);
        if (table.quick_price(larger).cost > table.quick_price(part).cost + alone) return false;
        part = std::move(larger);
        return true;
      };
      if (std::none_of(parts.begin(), parts.end(), try_join)) parts.push_back({i});
    }
    const bool saves =
        parts.size() > 1 && sum_of_prices(table, parts) < sum_of_prices(table, {pack});
    if (!saves) parts = {pack};
    for (std::vector<int>& part : parts) result.push_back(std::move(part));
  }
  return result;
}

// The co-schedule of the cheapest of `draws` partitions.
template <class Draw>
Coschedule best_of_draws(const Instance& instance, int draws, const Draw& draw) {
  PackTable table(instance);
  Packs best;
  double least = kInfinity;
  for (int k = 0; k < draws; ++k) {
    Packs packs = repair_packs(instance, table, draw(k));
    if (instance.sharing()->slows()) packs = part_packs(table, packs);
    const double cost = sum_of_prices(table, packs);
    if (cost < least) {
      least = cost;
      best = std::move(packs);
    }
    check_interrupt();
  }
  return without_deadline(
      [&] { return coschedule_at_prices(instance, table, best, kSearchNodes); });
}

}  // namespace

std::vector<int> insert_task(std::vector<int> pack, int i) {
  pack.insert(std::lower_bound(pack.begin(), pack.end(), i), i);
  return pack;
}

Packs repair_packs(const Instance& instance, PackTable& table, const Packs& packs) {
  Packs result;
  for (const std::vector<int>& pack : packs) {
    const std::size_t first = result.size();
    for (const int i : pack) {
      std::size_t p = first;
      for (; p < result.size(); ++p) {
        std::vector<int> larger = insert_task(result[p], i);
        if (static_cast<int>(larger.size()) > instance.max_tasks()) continue;
        if (table.quick_price(larger).cost == kInfinity) continue;
        result[p] = std::move(larger);
        break;
      }
      if (p == result.size()) result.push_back({i});
    }
  }
  return result;
}

Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice) {
  const Instance unshared = instance.without_sharing();
  if (epsilons.empty()) heuristic::pack_by_pack(unshared, epsilons, choice);  // throws
  return best_of_draws(instance, static_cast<int>(epsilons.size()), [&](int k) {
    return packs_of(heuristic::pack_by_pack(unshared, {epsilons[k]}, choice).pack_of);
  });
}

Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  const Instance unshared = instance.without_sharing();
  const std::vector<Packs> partitions = heuristic::random_packs(unshared, draws, seed);
  return best_of_draws(instance, draws, [&](int k) { return partitions[k]; });
}

Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  const Instance unshared = instance.without_sharing();
  const std::vector<Packs> partitions = heuristic::random_proc_packs(unshared, draws, seed);
  return best_of_draws(instance, draws, [&](int k) { return partitions[k]; });
}

}  // namespace cosched::packs::shared
