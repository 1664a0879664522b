#include "cosched/packs/shared/pairs.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/matching.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

Coschedule pairs(const Instance& instance) {
  if (instance.max_tasks() > 2)
    throw InvalidInstance("max_tasks = " + std::to_string(instance.max_tasks()) +
                          ": expected 1 or 2 for pairs (optimal takes any)");
  PackTable table(instance);
  const int n = instance.tasks();
  std::vector<opt::WeightedEdge> edges;
  constexpr std::int64_t kAll = std::int64_t{1} << 60;
  if (instance.max_tasks() == 2)
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const double apart = table.exact_price({i}, kAll).cost + table.exact_price({j}, kAll).cost;
        const double saved = apart - table.exact_price({i, j}, kAll).cost;
        if (saved > 0) edges.push_back({i, j, saved});
      }
      check_interrupt();
    }
  const std::vector<int> partner = opt::maximum_weight_matching(n, edges);
  Packs packs;
  for (int i = 0; i < n; ++i) {
    if (partner[i] < 0) packs.push_back({i});
    if (partner[i] > i) packs.push_back({i, partner[i]});
  }
  return coschedule_at_prices(instance, table, packs);
}

}  // namespace cosched::packs::shared
