#include "cosched/bags/search/relaxed_prices.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::bags::search {

std::vector<RelaxedPrices> relaxed_prices_at(const Instance& instance,
                                             const std::vector<double>& makespans) {
  std::vector<RelaxedPrices> probes;
  COSCHED_ASSERT(std::is_sorted(makespans.rbegin(), makespans.rend()));
  energy::visit_pieces(instance, energy::Cut::long_tasks,
                       [&](const energy::Walk& walk, double low) {
                         while (probes.size() < makespans.size() && makespans[probes.size()] >= low)
                           probes.push_back({makespans[probes.size()], walk.prices()});
                         return probes.size() < makespans.size();
                       });
  return probes;
}

std::vector<double> task_values(const Instance& instance, const RelaxedPrices& prices) {
  std::vector<double> value(instance.types(), 0);
  for (int i = 0; i < instance.types(); ++i) {
    if (instance.count(i) == 0) continue;
    value[i] = kInfinity;
    for (int j = 0; j < instance.machine_types(); ++j)
      if (instance.etc(i, j) <= prices.makespan)
        value[i] =
            std::min(value[i], instance.joules(i, j) + prices.prices[j] * instance.etc(i, j));
  }
  return value;
}

}  // namespace cosched::bags::search
