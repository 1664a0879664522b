#include "cosched/moldable/batches/demt.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/search/best.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT
using Compaction = batches::DemtOptions::Compaction;

std::vector<Placement> every_algorithm(const Instance& instance) {
  std::vector<Placement> found{list::gang(instance), list::sequential(instance),
                               batches::demt(instance)};
  for (const Compaction step : {Compaction::none, Compaction::early, Compaction::list}) {
    batches::DemtOptions options;
    options.compaction = step;
    found.push_back(batches::demt(instance, options));
  }
  for (const double factor : {0.0, 1.0, 3.0})
    found.push_back(
        list::marginal_cost_schedule(instance, list::order_by_density(instance), factor));
  for (const dual::ListOrder order :
       {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
    found.push_back(dual::list_graham(instance, order));
  search::DemtBestOptions options;
  options.work = 2000;
  const search::DemtBestResult best = search::demt_best(instance, options);
  for (const search::ParetoPoint& point : best.front.points()) found.push_back(point.placement);
  return found;
}

TEST(Algorithms, BuildValidSchedulesNoBetterThanTheOptimum) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (int n = 1; n <= 4; ++n)
      for (int m = 1; m <= 4; ++m)
        for (std::uint64_t seed = 0; seed < (n < 4 ? 10 : 3); ++seed) {
          SHOW_ON_FAILURE(kind);
          const Instance instance = small_instance(kind, n, m, 1000 * seed + 10 * n + m);
          SHOW_ON_FAILURE(instance);
          const Optima optima = exhaustive_optima(instance);
          for (const Placement& placement : every_algorithm(instance)) {
            require_valid(instance, placement);
            EXPECT_GE(makespan(placement), optima.makespan * (1 - 1e-12));
            EXPECT_GE(weighted_completion(instance, placement), optima.minsum * (1 - 1e-12));
          }
        }
}

TEST(Algorithms, BuildValidSchedulesOnThePapersWorkloads) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne}) {
    const Instance instance = workload(kind, 60, 30, 9);
    SHOW_ON_FAILURE(instance);
    for (const Placement& placement : every_algorithm(instance)) require_valid(instance, placement);
  }
}

TEST(Gang, IsOptimalForLinearSpeedUp) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    std::vector<Downey> profiles;
    std::vector<double> weights;
    for (int i = 0; i < 4; ++i) {
      profiles.push_back({0.1 + rng.uniform(), 100, 0});
      weights.push_back(static_cast<double>(rng.between(1, 9)));
    }
    const Instance instance(profiles, weights, {}, 3);
    SHOW_ON_FAILURE(instance);
    EXPECT_NEAR(weighted_completion(instance, list::gang(instance)),
                exhaustive_optima(instance).minsum, 1e-9);
  }
}

// The batches hold each job once, fit in the machine and in their lengths, which double.
TEST(Demt, BatchesKeepTheirPromises) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne})
    for (const int n : {1, 10, 200}) {
      const Instance instance = workload(kind, n, 20, 77 + n);
      SHOW_ON_FAILURE(instance);
      std::set<int> seen;
      double last = 0;
      for (const batches::Batch& batch :
           batches::make_batches(instance, dual::default_horizon(instance))) {
        EXPECT_GT(batch.length, last);
        if (last > 0) {
          EXPECT_NEAR(std::log2(batch.length / last), std::round(std::log2(batch.length / last)),
                      1e-9);
        }
        last = batch.length;
        int procs = 0;
        for (const batches::Item& item : batch.items) {
          procs += item.procs;
          double length = 0;
          for (const int i : item.jobs) {
            EXPECT_TRUE(seen.insert(i).second);
            length += instance.time(i, item.procs);
            EXPECT_EQ(item.procs, instance.gamma(i, batch.length));
          }
          EXPECT_LE(length, batch.length * (1 + 1e-12));
          EXPECT_TRUE(item.jobs.size() == 1 || item.procs == 1);
        }
        EXPECT_LE(procs, instance.machines());
      }
      EXPECT_EQ(static_cast<int>(seen.size()), n);
    }
}

TEST(Demt, EachCompactionIsNoWorseForMinsum) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne}) {
    const Instance instance = workload(kind, 80, 40, 5);
    SHOW_ON_FAILURE(instance);
    double last = kInfinity;
    for (const Compaction step :
         {Compaction::none, Compaction::early, Compaction::list, Compaction::shuffle}) {
      batches::DemtOptions options;
      options.compaction = step;
      const double minsum = weighted_completion(instance, batches::demt(instance, options));
      EXPECT_LE(minsum, last);
      last = minsum;
    }
  }
}

TEST(Demt, SchedulesJobsWithoutWeight) {
  const Instance one(Times(Table(9, 2, 1.0)), {0, 0, 0, 1, 0, 0, 0, 0, 2});
  require_valid(one, batches::demt(one));
  const Instance none(Times(Table(9, 2, 1.0)), std::vector<double>(9, 0));
  require_valid(none, batches::demt(none));
  require_valid(none, search::demt_best(none).front.points().front().placement);
}

TEST(Demt, AnySeedIsRepeated) {
  const Instance instance = workload(Kind::weak, 60, 20, 1);
  SHOW_ON_FAILURE(instance);
  batches::DemtOptions options;
  options.seed = 5;
  EXPECT_EQ(batches::demt(instance, options).start, batches::demt(instance, options).start);
  EXPECT_EQ(batches::make_batches(instance, 3).size(), batches::make_batches(instance, 3).size());
  EXPECT_THROW(batches::make_batches(instance, 0), InvalidInstance);
}

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
        const Criteria found = evaluate_criteria(instance, points[k].placement);
        EXPECT_NEAR(found.makespan, points[k].value.makespan, 1e-9 * found.makespan);
        EXPECT_NEAR(found.minsum, points[k].value.minsum, 1e-9 * found.minsum);
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
      const Criteria found = best.front.points()[best.chosen_point].value;
      EXPECT_LE(found.makespan, before.makespan);
      const double product = found.makespan * found.minsum;
      EXPECT_LE(product, before.makespan * before.minsum * (1 + kRounding));
      gains += part > 1 && product < before.makespan * before.minsum * (1 - kRounding);
      before = found;
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

TEST(ParetoFront, KeepsWhatIsNotDominated) {
  search::ParetoFront front;
  const auto offer = [&](double length, double minsum) { front.offer({length, minsum}, {}); };
  offer(3, 3);
  offer(5, 1);
  offer(1, 5);
  offer(3, 4);  // dominated
  offer(4, 3);  // dominated
  EXPECT_EQ(front.points().size(), 3u);
  offer(2, 2);  // dominates (3, 3)
  ASSERT_EQ(front.points().size(), 3u);
  EXPECT_EQ(front.points()[1].value.makespan, 2);
  offer(1, 1);  // dominates all
  EXPECT_EQ(front.points().size(), 1u);
  EXPECT_FALSE(front.accepts({1, 1}));
}

// --- on-line --------------------------------------------------------------------------------

TEST(ByBatches, IsWithinTwiceTheOffLineRatio) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (int n = 1; n <= 4; ++n)
      for (std::uint64_t seed = 0; seed < 25; ++seed) {
        SHOW_ON_FAILURE(kind);
        const Instance instance = small_instance(kind, n, 3, 77 * seed + n, true);
        SHOW_ON_FAILURE(instance);
        const double optimum = exhaustive_optima(instance).makespan;
        const Placement found =
            batches::schedule_by_batches(instance, [&](const std::vector<int>& jobs) {
              return dual::dual_approximation(instance.select(jobs), 0.01).schedule.placement;
            });
        require_valid(instance, found);
        const double ratio = dual::guarantee(instance);
        EXPECT_LE(makespan(found), 2 * ratio * 1.01 * optimum);
      }
}

TEST(ByBatches, WaitsForReleasesAndTakesWhatIsThere) {
  // One processor: jobs of 2 s released at 0, 1 and 10.
  const Instance instance(Times(Table(3, 1, 2.0)), {1, 1, 1}, {10, 0, 1});
  std::vector<std::vector<int>> batches;
  const Placement found = batches::schedule_by_batches(instance, [&](const std::vector<int>& jobs) {
    batches.push_back(jobs);
    return list::sequential(instance.select(jobs));
  });
  EXPECT_EQ(batches, (std::vector<std::vector<int>>{{1}, {2}, {0}}));
  EXPECT_EQ(found.start, (std::vector<double>{10, 0, 2}));
  EXPECT_THROW(
      batches::schedule_by_batches(instance, [](const std::vector<int>&) { return Placement{}; }),
      InvalidInstance);
}

// C = 1, the least time 1/4: lengths 1/4, 1/2 (which nothing needs) and 1.
TEST(Demt, TheFirstBatchIsAsLongAsTheShortestJob) {
  const Instance instance(Times(Table{{0.25}, {1}}), {1, 1}, {});
  std::vector<double> lengths;
  for (const batches::Batch& batch : batches::make_batches(instance, 1))
    lengths.push_back(batch.length);
  EXPECT_EQ(lengths, (std::vector<double>{0.25, 1}));
}

// Job 0: 4 s on one processor, weight 4.  Job 1: 1 s on both, weight 1.5.  Which comes first?
TEST(Demt, ListsABatchInItsLocalOrder) {
  const Instance instance(Times(Table{{4, 4}, {2, 1}}), {4, 1.5}, {});
  const std::vector<batches::Batch> batch{{8, {{1, {0}}, {2, {1}}}}};
  const auto starts = [&](batches::LocalOrder order) {
    return batches::list_batches(instance, batch, order).start;
  };
  const std::vector<double> wide_first{1, 0}, heavy_first{0, 4};
  EXPECT_EQ(starts(batches::LocalOrder::smith), wide_first);     // 1.5 / 1 > 4 / 4
  EXPECT_EQ(starts(batches::LocalOrder::density), heavy_first);  // 4 / 4 > 1.5 / 2
  EXPECT_EQ(starts(batches::LocalOrder::weight), heavy_first);   // 4 > 1.5
}

// Of jobs that slow each other the batch alone knows the ends: here 3 s instead of 2 s alone.
TEST(ByBatches, KeepsTheEndsOfJobsThatShareTheMachine) {
  const Sharing sharing(3, {}, Slowdowns{Matrix<double>(3, 3, 1.5), SlowdownRule::sum}, {});
  const Instance instance = Instance(Times(Table(3, 2, 2.0)), {1, 1, 1}, {0, 0, 1})
                                .with_sharing(std::make_shared<const Sharing>(sharing));
  const Placement found = batches::schedule_by_batches(instance, [](const std::vector<int>& jobs) {
    const std::size_t n = jobs.size();
    const double end = n == 2 ? 3 : 2;  // two run side by side, one runs alone
    return Placement{Allotment(n, 1), std::vector<double>(n, 0), std::vector<double>(n, end)};
  });
  EXPECT_EQ(found.start, (std::vector<double>{0, 0, 3}));
  EXPECT_EQ(found.end, (std::vector<double>{3, 3, 5}));
  EXPECT_EQ(found.procs, (Allotment{1, 1, 1}));
}

TEST(OffLineAlgorithms, RefuseReleases) {
  const Instance instance(Times(Table(2, 2, 1.0)), {1, 1}, {0, 3});
  EXPECT_THROW(batches::demt(instance, {}), InvalidInstance);
  EXPECT_THROW(search::demt_best(instance), InvalidInstance);
  EXPECT_THROW(list::gang(instance), InvalidInstance);
  EXPECT_THROW(list::sequential(instance), InvalidInstance);
  EXPECT_THROW(dual::list_graham(instance, dual::ListOrder::saf), InvalidInstance);
}

}  // namespace
}  // namespace cosched::moldable
