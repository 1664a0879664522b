#include "cosched/moldable/batches/demt.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "support/moldable_instances.hpp"
#include "support/moldable_schedules.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT
using Compaction = batches::DemtOptions::Compaction;

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
  const Instance one_job_each(Times(Table(9, 2, 1.0)), {0, 0, 0, 1, 0, 0, 0, 0, 2});
  require_valid(one_job_each, batches::demt(one_job_each));
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
