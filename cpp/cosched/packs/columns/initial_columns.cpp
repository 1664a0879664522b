#include "cosched/packs/columns/initial_columns.hpp"

#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::columns {
namespace {

std::vector<double> least_times(const Times& times) {
  std::vector<double> least(times.tasks());
  for (int i = 0; i < times.tasks(); ++i) least[i] = times.least(i);
  return least;
}

}  // namespace

std::vector<CountRow> least_count_rows(const Instance& instance, int max_rows) {
  std::vector<double> least = least_times(instance.times());
  std::sort(least.begin(), least.end(), std::greater<>());
  const int k = instance.max_tasks(), packs = (instance.tasks() + k - 1) / k;
  const int rows = std::min(packs, max_rows);
  std::vector<CountRow> counts;
  for (int r = 1; r <= rows; ++r) {
    const int m = static_cast<int>(static_cast<std::int64_t>(packs) * r / rows);
    const double length = least[static_cast<std::size_t>(m - 1) * k];
    if (!counts.empty() && counts.back().length == length) counts.pop_back();
    counts.push_back({length, m, true});
  }
  return counts;
}

std::vector<PackColumn> initial_columns(const Instance& instance) {
  const Times& times = instance.times();
  std::vector<PackColumn> columns;
  const std::vector<double> least = least_times(times);
  for (int i = 0; i < times.tasks(); ++i) columns.push_back({least[i], {i}});
  for (const double epsilon : heuristic::nine_epsilons()) {
    const Coschedule coschedule = heuristic::pack_by_pack(instance, {epsilon});
    const Packs packs = packs_of(coschedule.pack_of);
    const std::vector<double> lengths = pack_costs(instance, coschedule.pack_of, coschedule.procs);
    for (std::size_t b = 0; b < packs.size(); ++b) columns.push_back({lengths[b], packs[b]});
  }
  return columns;
}

Prices area_prices(const Instance& instance) {
  Prices prices;
  for (int i = 0; i < instance.tasks(); ++i)
    prices.task.push_back(least_work(instance.times(), i) / instance.procs());
  return prices;
}

}  // namespace cosched::packs::columns
