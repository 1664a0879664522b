#include "cosched/packs/heuristic/make_pack.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/errors.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

// First fit by a scan of the packs, as Algorithm 4.4 has it.
std::vector<int> scanned_packs(const Instance& instance, const std::vector<int>& sigma) {
  std::vector<int> pack_of(instance.tasks()), free, room;
  std::vector<double> time;
  for (int i = 0; i < instance.tasks(); ++i)
    time.push_back(instance.times().measured_time(i, sigma[i]));
  for (const int i : heuristic::by_decreasing(time)) {
    std::size_t pack = 0;
    while (pack < free.size() && (free[pack] < sigma[i] || room[pack] == 0)) ++pack;
    if (pack == free.size()) {
      free.push_back(instance.procs());
      room.push_back(instance.max_tasks());
    }
    free[pack] -= sigma[i];
    --room[pack];
    pack_of[i] = static_cast<int>(pack);
  }
  return pack_of;
}

std::vector<int> random_procs(const Instance& instance, Rng& rng) {
  std::vector<int> sigma(instance.tasks());
  for (int i = 0; i < instance.tasks(); ++i) do
      sigma[i] = static_cast<int>(rng.between(1, instance.procs()));
    while (instance.times().measured_time(i, sigma[i]) == kInfinity);
  return sigma;
}

TEST(MakePack, IsFirstFitByDecreasingTime) {
  Rng rng(1);
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (const int n : {1, 2, 3, 7, 8, 9, 33})
      for (const int p : {1, 2, 5, 16})
        for (const int k : {1, 2, 3, n}) {
          const Instance instance(Times(small_table(kind, n, p, 7 * n + p)), k);
          SHOW_ON_FAILURE(instance);
          const std::vector<int> sigma = random_procs(instance, rng);
          const Coschedule result = heuristic::make_pack(instance, sigma, false);
          require_valid(instance, result);
          EXPECT_EQ(result.pack_of, scanned_packs(instance, sigma));
          EXPECT_EQ(result.procs, sigma);
          EXPECT_EQ(result.cost, cost(instance, result.pack_of, sigma));
        }
}

TEST(MakePack, ByHand) {
  // Times on the given processors: 5, 4, 4, 1; three processors.
  const Table table{{9, 5, 3}, {4, 3, 2}, {7, 4, 3}, {1, 1, 1}};
  const Coschedule result = heuristic::make_pack(Instance(Times(table), 2), {2, 1, 2, 1}, false);
  EXPECT_EQ(result.pack_of, (std::vector<int>{0, 0, 1, 1}));  // 1 comes before 2: lower number
  EXPECT_EQ(result.cost, 5 + 4);
}

TEST(MakePack, ReoptimisingKeepsThePacksAndNeverCostsMore) {
  Rng rng(3);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SHOW_ON_FAILURE(seed);
    const int kind = static_cast<int>(seed) % kTableKinds;
    const Instance instance(Times(small_table(kind, 8, 6, seed)), 3);
    SHOW_ON_FAILURE(instance);
    const std::vector<int> sigma = random_procs(instance, rng);
    const Coschedule raw = heuristic::make_pack(instance, sigma, false);
    const Coschedule better = heuristic::make_pack(instance, sigma, true);
    require_valid(instance, better);
    EXPECT_EQ(better.pack_of, raw.pack_of);
    EXPECT_LE(better.cost, raw.cost);
    double best = 0;
    for (const auto& pack : packs_of(raw.pack_of))
      best += exhaustive_pack(instance.times(), pack, 0, instance.procs());
    EXPECT_NEAR(better.cost, best, 1e-12);
  }
}

TEST(MakePack, RefusesWrongProcessors) {
  const Instance instance(Times(random_table(3, 4, 1)), 2);
  SHOW_ON_FAILURE(instance);
  EXPECT_THROW(heuristic::make_pack(instance, {1, 1}, false), InvalidInstance);
  EXPECT_THROW(heuristic::make_pack(instance, {1, 1, 0}, false), InvalidInstance);
  EXPECT_THROW(heuristic::make_pack(instance, {1, 1, 5}, false), InvalidInstance);
  Table holed(3, 4, 1.0);
  holed(1, 2) = kInfinity;
  EXPECT_THROW(heuristic::make_pack(Instance(Times(holed), 2), {1, 3, 1}, true), InvalidInstance);
  EXPECT_NO_THROW(heuristic::make_pack(Instance(Times(holed), 2), {1, 4, 1}, true));
}

}  // namespace
}  // namespace cosched::packs
