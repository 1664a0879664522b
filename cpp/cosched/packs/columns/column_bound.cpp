#include "cosched/packs/columns/column_bound.hpp"

#include <algorithm>
#include <cstdint>

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/columns/dominance.hpp"
#include "cosched/packs/columns/groups.hpp"
#include "cosched/packs/columns/pricing.hpp"
#include "cosched/packs/columns/relaxation.hpp"
#include "cosched/packs/model/bounds.hpp"

namespace cosched::packs::columns {
namespace {

constexpr std::int64_t kMostWork = 20'000'000'000;  // operations: some twenty seconds
constexpr int kMostAlone = 300;    // tasks up to which only the whole relaxation is solved
constexpr int kMostWhole = 1'200;  // and beyond which only that of groups
constexpr int kMostGroupRows = 300;
constexpr double kGroupedTolerance = 1e-3;

}  // namespace

LowerBound column_bound(const Instance& instance, std::optional<double> time_limit) {
  const ScopedTimeLimit limit(time_limit);
  LowerBound bound;
  bound.value = std::max(area_bound(instance), longest_bound(instance));
  if (instance.max_tasks() == 1) return bound;  // exact: every task alone
  Relaxation::Options options;
  options.most_work = kMostWork;
  std::optional<Relaxation> grouped, whole;
  bound.complete = finishes_within(std::nullopt, [&] {
    Restrictions restrictions;
    restrictions.counts = least_counts(instance);
    if (instance.tasks() > kMostAlone) {
      grouped.emplace(instance, alike(instance.times(), kMostGroupRows), restrictions,
                      first_columns(instance));
      grouped->start_from(area_prices(instance), area_bound(instance));
      options.tolerance = kGroupedTolerance;
      grouped->solve(options);
      if (instance.tasks() > kMostWhole) return;
    }
    whole.emplace(instance, dominance(instance.times()), restrictions,
                  grouped ? grouped->columns() : first_columns(instance));
    if (grouped) whole->start_from(grouped->prices(), grouped->bound());
    options.tolerance = Relaxation::Options().tolerance;
    whole->solve(options);
  });
  for (const auto& relaxation : {&grouped, &whole})
    if (*relaxation) bound.value = std::max(bound.value, (*relaxation)->bound());
  return bound;
}

}  // namespace cosched::packs::columns
