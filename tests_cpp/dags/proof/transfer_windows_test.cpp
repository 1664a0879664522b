// The three tasks of transfer_windows.hpp, transfer_guesses.hpp and transfer_lp.hpp.
#include "cosched/dags/proof/transfer_windows.hpp"

#include <gtest/gtest.h>

#include "cosched/dags/proof/transfer_lp.hpp"
#include "cosched/dags/proof/transfer_shaving.hpp"
#include "dags/transfer_graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

constexpr int kA = 0, kB = 1, kC = 2;

// a and b send data to c; a byte is a second between memories of their own.
Instance three_tasks(const std::vector<std::vector<double>>& times, const std::vector<int>& units,
                     const std::vector<double>& data) {
  const int types = static_cast<int>(units.size());
  Links links{.bandwidth = Table(types, types, 1),
              .latency = Table(types, types),
              .memories = {Memories::MemoryKind::unit, {}}};
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
  EXPECT_TRUE(windows.is_open(kA, kCpu));
  const proof::ShavingResult failed = proof::shave(windows, {1e6, 1000}, false);
  EXPECT_FALSE(failed.is_refuted);
  ASSERT_FALSE(failed.closed_choices.empty());
  EXPECT_FALSE(failed.closed_choices.front().is_edge);
  EXPECT_EQ(failed.closed_choices.front().item, kA);
  EXPECT_EQ(failed.closed_choices.front().choice, kCpu);
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
  const std::vector<double> inside = lp.interior_point();
  for (int row = 0; row < lp.programme().rows(); ++row)
    EXPECT_GT(lp.programme().row_value(row, inside), lp.programme().right[row]);
}

// What is open, and the heads and tails of that.
struct State {
  explicit State(const proof::TransferWindows& windows) {
    const TypeCosts& costs = windows.costs();
    for (int task = 0; task < windows.instance().tasks(); ++task)
      for (int type = 0; type < costs.types(); ++type) {
        const bool type_is_open = windows.is_open(task, type);
        open.push_back(type_is_open);
        bounds.push_back(type_is_open ? windows.head(task, type) : 0);
        bounds.push_back(type_is_open ? windows.tail(task, type) : 0);
      }
    for (int edge = 0; edge < costs.edges(); ++edge) {
      open.push_back(windows.forces_same_memory(edge));
      for (int way = 0; way < costs.placements(); ++way)
        open.push_back(windows.is_placement_open(edge, way));
    }
    undecided = windows.undecided_tasks();
  }
  std::vector<bool> open;
  std::vector<double> bounds;
  int undecided;
};

bool prune(proof::TransferWindows& windows) {
  return proof::prune_with_clusters(windows, proof::kSearchSlack, true);
}

void expect_same(const State& actual, const State& expected, double makespan) {
  EXPECT_EQ(actual.open, expected.open);
  EXPECT_EQ(actual.undecided, expected.undecided);
  for (std::size_t k = 0; k < expected.bounds.size(); ++k)
    EXPECT_NEAR(actual.bounds[k], expected.bounds[k], 1e-7 * makespan);
}

// Of a task's type, or of a way.
struct Closing {
  int task, type;
  proof::EdgePlacement way;
  bool of_way;
  void operator()(proof::TransferWindows& windows) const {
    if (of_way)
      windows.close_placement(way);
    else
      windows.close_type(task, type);
  }
};

// Whether nothing is left with a closing of all but one.
template <class Keep>
bool fails(proof::TransferWindows& windows, const Keep& keep) {
  windows.set_checkpoint();
  keep();
  const bool has_failed = prune(windows);
  windows.restore_checkpoint();
  return !has_failed;
}

// A T that pruning leaves, a twentieth or less above one that it refutes.
double just_above_refuted(const TypeCosts& costs) {
  double makespan = 1;
  for (;; makespan *= 1.05)
    if (proof::TransferWindows windows(costs, makespan); prune(windows)) return makespan;
}

// Guesses that others answer are not tried: none of all that are left fails.
TEST(TransferGuesses, LeaveNoneThatFails) {
  Rng rng(6);
  int closed = 0, of_edges = 0, tried = 0;
  for (int round = 0; round < 40; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance =
        graphs::with_random_transfers(rng, graphs::random(rng, {12, 3}), round % 2 ? 1 : 3);
    const TypeCosts costs(instance, true);
    const double makespan = just_above_refuted(costs);
    proof::TransferWindows windows(costs, makespan);
    ASSERT_TRUE(prune(windows));
    const proof::ShavingResult shaving = proof::shave(windows, {1e9, 1'000'000}, true);
    closed += static_cast<int>(shaving.closed_choices.size());
    for (const proof::TransferGuess& guess : shaving.closed_choices) of_edges += guess.is_edge;
    if (shaving.is_refuted) continue;
    for (int task = 0; task < instance.tasks(); ++task)
      for (int type = 0; type < costs.types(); ++type) {
        if (!windows.is_open(task, type)) continue;
        ++tried;
        EXPECT_FALSE(fails(windows, [&] { windows.keep_only_type(task, type); }));
      }
    for (int edge = 0; edge < costs.edges(); ++edge)
      for (int way = 0; way < costs.placements(); ++way) {
        if (!windows.is_placement_open(edge, way)) continue;
        ++tried;
        EXPECT_FALSE(fails(windows, [&] { windows.keep_only_placement({edge, way}); }));
      }
  }
  EXPECT_GT(closed, 50);
  EXPECT_GT(of_edges, 10);
  EXPECT_GT(tried, 500);
}

// Random closings one after the other: what changes is looked at again, against windows where all
// is new.
TEST(TransferWindows, TheWorklistMissesNothingAndUndoTakesAllBack) {
  Rng rng(5);
  int remaining_count = 0, failed_count = 0, changed_count = 0;
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance =
        graphs::with_random_transfers(rng, graphs::random(rng, {12, 3}), round % 2 ? 1 : 3);
    const TypeCosts costs(instance, true);
    if (costs.edges() == 0) continue;
    const double makespan = just_above_refuted(costs);
    proof::TransferWindows windows(costs, makespan);
    ASSERT_TRUE(prune(windows));
    std::vector<Closing> closings;
    for (int k = 0; k < 6; ++k) {
      SHOW_ON_FAILURE(k);
      const Closing next{static_cast<int>(rng.below(instance.tasks())),
                         static_cast<int>(rng.below(costs.types())),
                         {static_cast<int>(rng.below(costs.edges())),
                          static_cast<int>(rng.below(costs.placements()))},
                         k % 2 == 0};
      proof::TransferWindows fresh(costs, makespan);
      for (const Closing& closing : closings) closing(fresh);
      next(fresh);
      const bool expected = prune(fresh);

      const State before(windows);
      windows.set_checkpoint();
      next(windows);
      const bool has_pruned = prune(windows);
      const State after(windows);
      windows.restore_checkpoint();
      ASSERT_EQ(has_pruned, expected);
      expect_same(State(windows), before, 0);
      if (!has_pruned) {
        ++failed_count;
        continue;
      }
      ++remaining_count;
      changed_count += after.bounds != before.bounds;
      expect_same(after, State(fresh), makespan);
      next(windows);
      closings.push_back(next);
      ASSERT_TRUE(prune(windows));
      expect_same(State(windows), after, 0);
    }
  }
  EXPECT_GT(remaining_count, 50);
  EXPECT_GT(failed_count, 10);
  EXPECT_GT(changed_count, 50);
}

}  // namespace
}  // namespace cosched::dags
