#include "cosched/packs/model/bounds.hpp"

#include <gtest/gtest.h>

#include "cosched/lp/glpk.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/column_relaxation.hpp"
#include "cosched/packs/columns/dominance.hpp"
#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/columns/initial_columns.hpp"
#include "cosched/packs/columns/pricing.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

TEST(Bounds, AreNeverAboveTheOptimum) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 1; n <= 7; ++n)
      for (const int p : {1, 2, 3, 5})
        for (const int k : {1, 2, 3, n}) {
          const Instance instance(Times(small_table(kind, n, p, 10 * n + p)), k);
          SHOW_ON_FAILURE(instance);
          const double optimum = exhaustive_optimum(instance) * (1 + kRounding);
          EXPECT_LE(area_bound(instance), optimum);
          EXPECT_LE(longest_bound(instance), optimum);
          EXPECT_LE(columns::column_bound(instance).value, optimum);
          EXPECT_GE(columns::column_bound(instance).value, area_bound(instance));
          EXPECT_GE(columns::column_bound(instance).value, longest_bound(instance));
        }
}

TEST(Bounds, SimpleOnesByHand) {
  const Table table{{8, 5},    // least work 8, least time 5
                    {6, 6},    // 6, 6
                    {10, 4}};  // 8, 4 (super-linear)
  const auto instance = [&](int k) { return Instance(Times(table), k); };
  EXPECT_NEAR(area_bound(instance(2)), (8 + 6 + 8) / 2.0, 1e-12);
  EXPECT_NEAR(longest_bound(instance(2)), 6 + 4, 1e-12);  // of three tasks, two share a pack
  EXPECT_NEAR(longest_bound(instance(1)), 6 + 5 + 4, 1e-12);
  EXPECT_NEAR(columns::column_bound(instance(1)).value, 15, 1e-12);  // exact
}

// Value of the set-partitioning relaxation with all packs written out.
double whole_relaxation(const Instance& instance) {
  const int n = instance.tasks();
  lp::Model model;
  for (int i = 0; i < n; ++i) model.add_row(1, 1);
  for (int set = 1; set < 1 << n; ++set) {
    std::vector<int> tasks;
    for (int i = 0; i < n; ++i)
      if (set >> i & 1) tasks.push_back(i);
    if (static_cast<int>(tasks.size()) > instance.max_tasks()) continue;
    const double length = exhaustive_pack(instance.times(), tasks, 0, instance.procs());
    if (length == kInfinity) continue;
    const int column = model.add_column(length);
    for (const int i : tasks) model.add_entry(i, column, 1);
  }
  return lp::solve_glpk(model).objective;
}

TEST(ColumnBound, IsTheSetPartitioningRelaxationOrBetter) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 2; n <= 7; ++n)
      for (const int p : {2, 4, 6})
        for (const int k : {2, 3, n}) {
          const Instance instance(Times(small_table(kind, n, p, 5 * n + p)), k);
          SHOW_ON_FAILURE(instance);
          const double relaxed = whole_relaxation(instance);
          EXPECT_GE(columns::column_bound(instance).value, relaxed * (1 - 2e-5))
              << n << " " << p << " " << k;
        }
}

// The bound of groups, however few, on every kind of table.
TEST(GroupedBound, IsNeverAboveTheOptimum) {
  columns::ColumnRelaxation::SolveOptions options;
  options.max_operations = 300'000;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const int n = static_cast<int>(rng.between(2, 5)), p = static_cast<int>(rng.between(1, 6));
    const int k = static_cast<int>(rng.between(2, 5)), rows = static_cast<int>(rng.between(2, n));
    const int kind = static_cast<int>(seed % kTableKinds);
    const Instance instance(Times(small_table(kind, n, p, seed)), k);
    SHOW_ON_FAILURE(instance);
    if (instance.max_tasks() == 1) continue;
    columns::Restrictions restrictions;
    restrictions.counts = columns::least_count_rows(instance, 4);
    columns::ColumnRelaxation relaxation(instance,
                                         columns::group_alike_tasks(instance.times(), rows),
                                         restrictions, columns::initial_columns(instance));
    relaxation.start_from(columns::area_prices(instance), area_bound(instance));
    relaxation.solve(options);
    ASSERT_LE(relaxation.bound(), exhaustive_optimum(instance) * (1 + kRounding)) << seed;
    ASSERT_GE(relaxation.bound(), area_bound(instance));
  }
}

TEST(GroupedBound, OfManyTasksIsCloseToLocalSearch) {
  for (const int tasks : {320, 1300}) {
    const Instance instance(Times(speedup_workload(tasks, 8, 1)), 3);
    SHOW_ON_FAILURE(instance);
    const double search_cost = search::local_search(instance, 1, 200'000).coschedule.cost;
    const columns::LowerBound bound = columns::column_bound(instance);
    EXPECT_LE(bound.value, search_cost);
    EXPECT_GE(bound.value, search_cost * 0.97);
  }
}

TEST(Groups, HoldEveryTaskBetweenTheirRows) {
  for (const int largest_group : {2, 10, 64}) {
    Table table = speedup_workload(200, 16, 3);
    table.set_row(7, std::as_const(table).row(3));
    const columns::TaskGroups groups = columns::group_alike_tasks(Times(table), largest_group);
    EXPECT_LE(groups.rows, largest_group);
    EXPECT_EQ(groups.typical_tasks.size(), static_cast<std::size_t>(groups.rows));
    for (const auto& [row, weight] : groups.interpolation_of_task) {
      EXPECT_TRUE(row >= 0 && row + (weight < 1) < groups.rows);
      EXPECT_TRUE(weight >= 0 && weight <= 1);
    }
    EXPECT_EQ(groups.interpolation_of_task[7].row, groups.interpolation_of_task[3].row);
    EXPECT_EQ(groups.interpolation_of_task[7].weight, groups.interpolation_of_task[3].weight);
    for (int row = 0; row < groups.rows; ++row) {
      const columns::RowInterpolation share =
          groups.interpolation_of_task[groups.typical_tasks[row]];
      EXPECT_EQ(share.row + (share.weight == 0), row);
    }
  }
}

// Stopped after any amount of work, the bound is valid.
TEST(ColumnBound, IsValidWhenStoppedEarly) {
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const int k : {3, 4, 8}) {
      const Instance instance(Times(speedup_workload(13, 8, seed)), k);
      SHOW_ON_FAILURE(instance);
      const double optimum = search::subset_programme(instance).cost * (1 + kRounding);
      const auto dominates = columns::compute_dominance(instance.times());
      double before = 0, full = columns::column_bound(instance).value;
      for (const std::int64_t work : {0, 1000, 10'000, 30'000, 100'000, 300'000, 1'000'000}) {
        columns::ColumnRelaxation relaxation(instance, dominates, {},
                                             columns::initial_columns(instance));
        columns::ColumnRelaxation::SolveOptions options;
        options.max_operations = work;
        relaxation.solve(options);
        EXPECT_LE(relaxation.bound(), optimum);
        EXPECT_GE(relaxation.bound(), before);
        before = relaxation.bound();
      }
      EXPECT_LE(before, full * (1 + 2e-5));
      for (const double seconds : {0.0, 1e-4, 1e-3}) {
        const columns::LowerBound stopped = columns::column_bound(instance, seconds);
        EXPECT_TRUE(seconds > 0 || !stopped.is_complete);
        EXPECT_LE(stopped.value, optimum);
        EXPECT_GE(stopped.value, std::max(area_bound(instance), longest_bound(instance)));
      }
    }
}

TEST(ColumnBound, IsTightOnThreePartition) {
  for (const int k : {3, 4, 5}) {
    const Instance instance = three_partition(4, 31, k, 2);
    EXPECT_LE(columns::column_bound(instance).value, 4);
    EXPECT_NEAR(columns::column_bound(instance).value, 4, 1e-9);
  }
}

}  // namespace
}  // namespace cosched::packs
