#include "cosched/moldable/batches/online.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(ByBatches, IsWithinTwiceTheOffLineRatio) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (int n = 1; n <= 4; ++n)
      for (std::uint64_t seed = 0; seed < 25; ++seed) {
        SHOW_ON_FAILURE(kind);
        const Instance instance = small_instance(kind, n, 3, 77 * seed + n, true);
        SHOW_ON_FAILURE(instance);
        const double optimum = exhaustive_optima(instance).makespan;
        const Placement placement =
            batches::schedule_by_batches(instance, [&](const std::vector<int>& jobs) {
              return dual::dual_approximation(instance.select(jobs), 0.01).schedule.placement;
            });
        require_valid(instance, placement);
        const double ratio = dual::guarantee(instance);
        EXPECT_LE(makespan(placement), 2 * ratio * 1.01 * optimum);
      }
}

TEST(ByBatches, WaitsForReleasesAndTakesWhatIsThere) {
  // One processor: jobs of 2 s released at 0, 1 and 10.
  const Instance instance(Times(Table(3, 1, 2.0)), {1, 1, 1}, {10, 0, 1});
  std::vector<std::vector<int>> batches;
  const Placement placement =
      batches::schedule_by_batches(instance, [&](const std::vector<int>& jobs) {
        batches.push_back(jobs);
        return list::sequential(instance.select(jobs));
      });
  EXPECT_EQ(batches, (std::vector<std::vector<int>>{{1}, {2}, {0}}));
  EXPECT_EQ(placement.start, (std::vector<double>{10, 0, 2}));
  EXPECT_THROW(
      batches::schedule_by_batches(instance, [](const std::vector<int>&) { return Placement{}; }),
      InvalidInstance);
}

// Of jobs that slow each other the batch alone knows the ends: here 3 s instead of 2 s alone.
TEST(ByBatches, KeepsTheEndsOfJobsThatShareTheMachine) {
  const Sharing sharing(3, {}, Slowdowns{Matrix<double>(3, 3, 1.5), SlowdownRule::sum}, {});
  const Instance instance = Instance(Times(Table(3, 2, 2.0)), {1, 1, 1}, {0, 0, 1})
                                .with_sharing(std::make_shared<const Sharing>(sharing));
  const Placement placement =
      batches::schedule_by_batches(instance, [](const std::vector<int>& jobs) {
        const std::size_t n = jobs.size();
        const double end = n == 2 ? 3 : 2;  // two run side by side, one runs alone
        return Placement{Allotment(n, 1), std::vector<double>(n, 0), std::vector<double>(n, end)};
      });
  EXPECT_EQ(placement.start, (std::vector<double>{0, 0, 3}));
  EXPECT_EQ(placement.end, (std::vector<double>{3, 3, 5}));
  EXPECT_EQ(placement.procs, (Allotment{1, 1, 1}));
}

}  // namespace
}  // namespace cosched::moldable
