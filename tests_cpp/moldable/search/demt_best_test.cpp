#include "cosched/moldable/search/demt_best.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "support/moldable_instances.hpp"
#include "support/moldable_schedules.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT
using Compaction = batches::DemtOptions::Compaction;

TEST(DemtBest, IsNeverWorseThanDemtAndItsFrontIsOne) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne})
    for (const int n : {5, 40}) {
      const Instance instance = workload(kind, n, 20, 3 + n);
      SHOW_ON_FAILURE(instance);
      const Criteria base = evaluate_criteria(instance, batches::demt(instance));
      search::DemtBestOptions options;
      options.work = 50'000;
      const search::DemtBestResult best = search::demt_best(instance, options);
      EXPECT_TRUE(best.is_complete);
      const auto& points = best.front.points();
      const Criteria& chosen = points[best.chosen_point].value;
      EXPECT_LE(chosen.makespan, base.makespan);
      EXPECT_LE(chosen.minsum, base.minsum);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Criteria criteria = evaluate_criteria(instance, points[k].placement);
        EXPECT_NEAR(criteria.makespan, points[k].value.makespan, 1e-9 * criteria.makespan);
        EXPECT_NEAR(criteria.minsum, points[k].value.minsum, 1e-9 * criteria.minsum);
        if (k > 0) {
          EXPECT_GT(points[k].value.makespan, points[k - 1].value.makespan);
          EXPECT_LT(points[k].value.minsum, points[k - 1].value.minsum);
        }
      }
    }
}

TEST(DemtBest, MoreRoundsNeverMakeTheChosenLongerAndGainSomewhere) {
  int gains = 0;
  for (const Kind kind : {Kind::high, Kind::mixed}) {
    const Instance instance = workload(kind, 20, 16, 4);
    SHOW_ON_FAILURE(instance);
    Criteria before{kInfinity, kInfinity};
    for (const int part : {1, 3, 7}) {  // one round, two, three
      search::DemtBestOptions options;
      options.work = part * search::kDemtBestWork;
      const search::DemtBestResult best = search::demt_best(instance, options);
      const Criteria chosen = best.front.points()[best.chosen_point].value;
      EXPECT_LE(chosen.makespan, before.makespan);
      const double product = chosen.makespan * chosen.minsum;
      EXPECT_LE(product, before.makespan * before.minsum * (1 + kRounding));
      gains += part > 1 && product < before.makespan * before.minsum * (1 - kRounding);
      before = chosen;
    }
  }
  EXPECT_GT(gains, 0);
}

TEST(DemtBest, StopsAtItsTimeLimit) {
  search::DemtBestOptions options;
  options.time_limit = 0;
  const Instance instance = workload(Kind::mixed, 50, 20, 3);
  SHOW_ON_FAILURE(instance);
  const search::DemtBestResult best = search::demt_best(instance, options);
  EXPECT_FALSE(best.is_complete);
  require_valid(instance, best.front.points()[best.chosen_point].placement);
}

}  // namespace
}  // namespace cosched::moldable
