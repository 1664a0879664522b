// Schedules by every algorithm for moldable jobs, for tests of what they have in common.
#pragma once

#include <vector>

#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/demt_best.hpp"

namespace cosched::moldable::testing {

inline std::vector<Placement> every_algorithm(const Instance& instance) {
  std::vector<Placement> placements{list::gang(instance), list::sequential(instance),
                                    batches::demt(instance)};
  for (const batches::DemtOptions::Compaction step :
       {batches::DemtOptions::Compaction::none, batches::DemtOptions::Compaction::early,
        batches::DemtOptions::Compaction::list}) {
    batches::DemtOptions options;
    options.compaction = step;
    placements.push_back(batches::demt(instance, options));
  }
  for (const double factor : {0.0, 1.0, 3.0})
    placements.push_back(
        list::marginal_cost_schedule(instance, list::order_by_density(instance), factor));
  for (const dual::ListOrder order :
       {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
    placements.push_back(dual::list_graham(instance, order));
  search::DemtBestOptions options;
  options.work = 2000;
  const search::DemtBestResult best = search::demt_best(instance, options);
  for (const search::ParetoPoint& point : best.front.points())
    placements.push_back(point.placement);
  return placements;
}

}  // namespace cosched::moldable::testing
