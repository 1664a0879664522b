#include "cosched/packs/columns/column_bound.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "cosched/lp/glpk.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs::columns {
namespace {

using namespace cosched::packs::testing;  // NOLINT

// The relaxation written out, with columns for every pack of at most k tasks: every task is in packs
// of sum 1, and at least m packs last as long as the ((m - 1) k + 1)-th longest task, for every m.
// A pack may be counted as longer than it has to be, at that price.
double plain_relaxation(const Instance& instance) {
  const Times& times = instance.times();
  const int n = instance.tasks(), k = instance.max_tasks();
  std::vector<double> least_times;
  for (int i = 0; i < n; ++i) least_times.push_back(times.least(i));
  std::sort(least_times.begin(), least_times.end(), std::greater<>());
  lp::Model model;
  for (int i = 0; i < n; ++i) model.add_row(1, 1);
  std::vector<std::pair<double, int>> lengths;  // and their rows
  for (int m = 1; (m - 1) * k < n; ++m)
    lengths.emplace_back(least_times[static_cast<std::size_t>((m - 1) * k)],
                         model.add_row(m, kInfinity));
  for (int members = 1; members < 1 << n; ++members) {
    std::vector<int> tasks;
    for (int i = 0; i < n; ++i)
      if (members >> i & 1) tasks.push_back(i);
    if (static_cast<int>(tasks.size()) > k) continue;
    const double cost = exhaustive_pack(times, tasks, 0, instance.procs());
    if (cost == kInfinity) continue;
    std::vector<double> priced{cost};
    for (const auto& [length, row] : lengths)
      if (length > cost) priced.push_back(length);
    for (const double chosen : priced) {
      const int column = model.add_column(chosen);
      for (const int i : tasks) model.add_entry(i, column, 1);
      for (const auto& [length, row] : lengths)
        if (chosen >= length) model.add_entry(row, column, 1);
    }
  }
  const lp::Solution solution = lp::solve_glpk(model);
  lp::require_optimal(solution, "the relaxation of a test");
  return solution.objective;
}

TEST(ColumnBound, IsTheValueOfTheRelaxationOverAllPacks) {
  int above_both = 0;
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      SHOW_ON_FAILURE(kind);
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(2, 7)), p = static_cast<int>(rng.between(2, 5));
      const int k = static_cast<int>(rng.between(1, 3));
      SCOPED_TRACE(::testing::Message() << "kind " << kind << ", seed " << seed << ": " << n
                                        << " tasks, " << p << " processors, k = " << k);
      const Instance instance(Times(small_table(kind, n, p, 60 + seed)), k);
      SHOW_ON_FAILURE(instance);
      const LowerBound bound = column_bound(instance);
      const double relaxed = plain_relaxation(instance);
      EXPECT_TRUE(bound.is_complete);
      EXPECT_GE(bound.value, relaxed * (1 - 2e-5));  // it ends at a gap of 1e-5
      EXPECT_LE(bound.value, relaxed * (1 + 1e-9));
      EXPECT_LE(bound.value, exhaustive_optimum(instance) * (1 + 1e-12));
      if (relaxed > 1.001 * std::max(area_bound(instance), longest_bound(instance))) ++above_both;
    }
  EXPECT_GT(above_both, 50);
}

}  // namespace
}  // namespace cosched::packs::columns
