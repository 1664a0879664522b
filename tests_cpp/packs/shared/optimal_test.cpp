#include "cosched/packs/shared/optimal.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/local_search.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs::shared {
namespace {

enum class Shares { kMemory, kSlowdowns, kBoth };

// More tasks than the programme over subsets takes, each with a serial part.
Instance random_sharing(std::uint64_t seed, int tasks, Shares shares) {
  constexpr int kProcs = 8;
  Rng rng(seed);
  Table times(tasks, kProcs);
  Matrix<double> slowdown(tasks, tasks, 1), memory(tasks, kProcs);
  for (int i = 0; i < tasks; ++i) {
    const double work = 1 + 49 * rng.uniform(), serial = 0.4 * rng.uniform();
    const double gigabytes = 1 + 5 * rng.uniform();
    for (int q = 1; q <= kProcs; ++q) {
      times(i, q - 1) = work * (serial + (1 - serial) / q);
      memory(i, q - 1) = gigabytes;
    }
    for (int j = 0; j < tasks; ++j) slowdown(i, j) = 1 + 0.5 * rng.uniform();
  }
  std::vector<Resource> resources;
  if (shares != Shares::kSlowdowns)
    resources.push_back({.name = "memory", .capacity = 9, .need = memory});
  std::optional<Slowdowns> slowdowns;
  if (shares != Shares::kMemory) slowdowns = Slowdowns{slowdown, SlowdownRule{}};
  return Instance(Times(times), 3,
                  std::make_shared<const Sharing>(tasks, resources, slowdowns, std::nullopt));
}

TEST(SharedOptimal, OfTheSameWorkIsNoWorseThanTheLocalSearch) {
  // So little work that the rounds of the search end above the optimum: another seed, another start
  // or another number of rounds ends elsewhere.
  constexpr std::int64_t kWork = search::kLocalSearchWork / 64;
  int unproved = 0;
  for (const Shares shares : {Shares::kMemory, Shares::kSlowdowns, Shares::kBoth})
    for (const int tasks : {17, 40})
      for (const std::uint64_t seed : {1, 2}) {
        const Instance instance = random_sharing(seed, tasks, shares);
        SHOW_ON_FAILURE(instance);
        const double searched = local_search(instance, 0, kWork, std::nullopt).coschedule.cost;
        for (const std::int64_t nodes : {0, 1'000}) {
          const ExactResult result = optimal_by_work(instance, kWork, nodes);
          EXPECT_LE(result.coschedule.cost, searched)
              << tasks << " tasks, seed " << seed << ", " << nodes << " nodes";
          EXPECT_LE(result.bound, result.coschedule.cost);
          // Without nodes the proof finds no packs: the rounds alone decide.
          if (nodes == 0 && !result.is_proved) {
            EXPECT_EQ(result.coschedule.cost, searched);
            ++unproved;
          }
        }
      }
  EXPECT_GE(unproved, 6);
}

}  // namespace
}  // namespace cosched::packs::shared
