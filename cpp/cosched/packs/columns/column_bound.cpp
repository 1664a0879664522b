#include "cosched/packs/columns/column_bound.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/columns/column_relaxation.hpp"
#include "cosched/packs/columns/dominance.hpp"
#include "cosched/packs/columns/initial_columns.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "cosched/packs/model/bounds.hpp"

namespace cosched::packs::columns {
LowerBound column_bound(const Instance& instance, std::optional<double> time_limit,
                        const ColumnBoundParams& params) {
  const ScopedTimeLimit limit(time_limit);
  LowerBound bound;
  bound.value = std::max(area_bound(instance), longest_bound(instance));
  if (instance.max_tasks() == 1) return bound;  // exact: every task alone
  ColumnRelaxation::SolveOptions options;
  options.max_operations = params.max_operations;
  std::optional<ColumnRelaxation> group_relaxation, task_relaxation;
  bound.is_complete = finishes_within(std::nullopt, [&] {
    Restrictions restrictions;
    restrictions.counts = least_count_rows(instance);
    if (instance.tasks() > params.max_tasks_without_groups) {
      group_relaxation.emplace(instance, group_alike_tasks(instance.times(), params.max_group_rows),
                               restrictions, initial_columns(instance));
      group_relaxation->start_from(area_prices(instance), area_bound(instance));
      options.tolerance = params.group_tolerance;
      group_relaxation->solve(options);
      if (instance.tasks() > params.max_tasks_with_rows) return;
    }
    task_relaxation.emplace(
        instance, compute_dominance(instance.times()), restrictions,
        group_relaxation ? group_relaxation->columns() : initial_columns(instance));
    if (group_relaxation)
      task_relaxation->start_from(group_relaxation->prices(), group_relaxation->bound());
    options.tolerance = ColumnRelaxation::SolveOptions().tolerance;
    task_relaxation->solve(options);
  });
  for (const auto& relaxation : {&group_relaxation, &task_relaxation})
    if (*relaxation) bound.value = std::max(bound.value, (*relaxation)->bound());
  return bound;
}

}  // namespace cosched::packs::columns
