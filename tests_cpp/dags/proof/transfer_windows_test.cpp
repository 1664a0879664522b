// The three tasks of transfer_windows.hpp, transfer_guesses.hpp and transfer_lp.hpp.
#include "cosched/dags/proof/transfer_windows.hpp"

#include <gtest/gtest.h>

#include "cosched/dags/proof/transfer_clusters.hpp"
#include "cosched/dags/proof/transfer_guesses.hpp"
#include "cosched/dags/proof/transfer_lp.hpp"
#include "dags/transfer_graphs.hpp"

namespace cosched::dags {
namespace {

constexpr int kA = 0, kB = 1, kC = 2;

// a and b send data to c; a byte is a second between memories of their own.
Instance three_tasks(const std::vector<std::vector<double>>& times, const std::vector<int>& units,
                     const std::vector<double>& data) {
  const int types = static_cast<int>(units.size());
  Links links{Table(types, types, 1), Table(types, types), {Memories::Kind::unit, {}}};
  return graphs::with_transfers(graphs::make(times, {{kA, kC}, {kB, kC}}, units), data, links);
}

TEST(TransferWindows, AJoinSeesWhatNoPathDoes) {
  const Instance instance = three_tasks({{4}, {3}, {2}}, {2}, {5, 5});
  EXPECT_EQ(graphs::exhaustive(instance), 9);
  const TypeCosts costs(instance);
  proof::TransferWindows possible(costs, 9);
  ASSERT_TRUE(possible.prune(0));
  EXPECT_EQ(possible.head(kC, 0), 7);
  EXPECT_EQ(possible.tail(kA, 0), 2);  // by paths: a may be alone with c
  proof::TransferWindows impossible(costs, 8.9);
  EXPECT_FALSE(impossible.prune(0));
}

TEST(TransferGuesses, CloseATypeThatPruningLeavesOpen) {
  constexpr int kCpu = 0, kGpu = 1;
  const Instance instance = three_tasks({{4, 1}, {4, 4}, {5, 4}}, {1, 1}, {3, 4});
  EXPECT_EQ(graphs::exhaustive(instance), 9);
  const TypeCosts costs(instance);
  proof::TransferWindows windows(costs, 9);
  ASSERT_TRUE(windows.prune(0));
  EXPECT_TRUE(windows.open(kA, kCpu));
  const proof::FailedGuesses failed = proof::close_failing_guesses(windows, 1e6, false);
  EXPECT_FALSE(failed.refuted);
  ASSERT_FALSE(failed.closed.empty());
  EXPECT_FALSE(failed.closed.front().of_edge);
  EXPECT_EQ(failed.closed.front().item, kA);
  EXPECT_EQ(failed.closed.front().choice, kCpu);
  EXPECT_EQ(windows.only_type(kA), kGpu);
}

TEST(TransferLp, ExpressesSharesAndPlansByTheOthers) {
  // b can run on the GPU only, so of the two plans that of (b, c) is c's share.
  const Instance instance = three_tasks({{4, 1}, {kInfinity, 4}, {5, 4}}, {1, 1}, {3, 4});
  const TypeCosts costs(instance);
  const proof::TransferWindows windows(costs, 100);
  const proof::TransferLp lp(windows, {}, 1);
  // lambda, C of three tasks, a share each of a and c, and one entry of the plan of (a, c).
  EXPECT_EQ(lp.programme().columns(), 1 + 3 + 2 + 1);
  // C twice a task, both shares of a and c, the four entries of the plan, two paths, two loads.
  EXPECT_EQ(lp.programme().rows(), 2 * 3 + 4 + 4 + 2 + 2);
  const std::vector<double> inside = lp.inside();
  for (int row = 0; row < lp.programme().rows(); ++row)
    EXPECT_GT(lp.programme().at(row, inside), lp.programme().right[row]);
}

}  // namespace
}  // namespace cosched::dags
