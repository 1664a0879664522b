#include "cosched/packs/heuristic/baselines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "support/packs_instances.hpp"
#include "support/packs_plain.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

TEST(Sequential, IsOptimalForPacksOfOne) {
  for (int kind = 0; kind < kTableKinds; ++kind) {
    SHOW_ON_FAILURE(kind);
    const Instance instance(Times(small_table(kind, 5, 4, 3)), 1);
    SHOW_ON_FAILURE(instance);
    const Coschedule result = heuristic::sequential(instance);
    require_valid(instance, result);
    EXPECT_NEAR(result.cost, exhaustive_optimum(instance), 1e-12);
    EXPECT_DOUBLE_EQ(relative_cost(instance, result), 1);
    EXPECT_DOUBLE_EQ(relative_response_time(instance, result), 1);
  }
}

TEST(PackApprox, IsWithinThreeTimesTheOptimumWhenPacksAreOnlyLimitedByProcessors) {
  for (int n = 1; n <= 7; ++n)
    for (const int p : {1, 2, 3, 5})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        SHOW_ON_FAILURE(seed);
        const Instance instance(Times(random_table(n, p, 100 * seed + 10 * n + p)), p);
        SHOW_ON_FAILURE(instance);
        const double optimum = exhaustive_optimum(instance);
        const Coschedule raw = heuristic::pack_approx(instance, false),
                         better = heuristic::pack_approx(instance, true);
        require_valid(instance, raw);
        require_valid(instance, better);
        EXPECT_LE(raw.cost, 3 * optimum);
        EXPECT_LE(better.cost, raw.cost);
        EXPECT_GE(better.cost, optimum * (1 - 1e-12));
      }
}

TEST(PackApprox, IsWithinThreeTimesTheOptimumOnWorkloads) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance(Times(speedup_workload(25, 8, seed)), 8);
    SHOW_ON_FAILURE(instance);
    const ExactResult best = exact::optimal(instance);
    ASSERT_TRUE(best.is_proved);
    EXPECT_LE(heuristic::pack_approx(instance, false).cost, 3 * best.coschedule.cost);
  }
}

// random-pack and random-proc: valid, repeatable, and more draws only ever help.
void check_draws(Coschedule (*draw)(const Instance&, int, std::uint64_t)) {
  std::set<double> costs;
  for (const int n : {1, 2, 6, 20})
    for (const int k : {1, 3, 20})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const int kind = static_cast<int>(seed) % kTableKinds;
        const Instance instance(Times(small_table(kind, n, 7, n)), k);
        const Coschedule one_draw = draw(instance, 1, seed), nine = draw(instance, 9, seed);
        require_valid(instance, one_draw);
        require_valid(instance, nine);
        EXPECT_LE(nine.cost, one_draw.cost);
        EXPECT_EQ(one_draw.pack_of, draw(instance, 1, seed).pack_of);
        if (n == 20 && k == 3) costs.insert(one_draw.cost);
        for (const auto& pack : packs_of(one_draw.pack_of))  // processors are optimal
          EXPECT_NEAR(
              pack_costs(instance, one_draw.pack_of, one_draw.procs)[one_draw.pack_of[pack[0]]],
              heuristic::with_optimal_procs(instance.times(), {pack}).cost, 1e-12);
      }
  EXPECT_GT(costs.size(), 5U);  // seeds differ
  EXPECT_THROW(draw(Instance(Times(random_table(3, 3, 1)), 2), 0, 1), InvalidInstance);
}

TEST(RandomPack, IsValidRepeatableAndBetterWithMoreDraws) { check_draws(heuristic::random_pack); }
TEST(RandomProc, IsValidRepeatableAndBetterWithMoreDraws) { check_draws(heuristic::random_proc); }

TEST(RandomPack, DrawsEverySize) {
  const Instance instance(Times(random_table(30, 8, 1)), 4);
  SHOW_ON_FAILURE(instance);
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    for (const auto& pack : packs_of(heuristic::random_pack(instance, 1, seed).pack_of))
      sizes.insert(pack.size());
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 3, 4}));
}

TEST(PackByPack, IsThePapersAlgorithm) {
  std::vector<double> epsilons = heuristic::nine_epsilons();
  epsilons.push_back(0);
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (const int n : {1, 2, 5, 12, 30})
      for (const int p : {1, 2, 7, 16})
        for (const int k : {1, 3, 16})
          for (const double epsilon : epsilons) {
            const Instance instance(Times(small_table(kind, n, p, 100 * n + p)), k);
            SHOW_ON_FAILURE(instance);
            const Coschedule result = heuristic::pack_by_pack(instance, {epsilon});
            require_valid(instance, result);
            const Coschedule plain = plain_pack_by_pack(instance, std::vector<double>{epsilon});
            EXPECT_EQ(result.pack_of, plain.pack_of) << n << " " << p << " " << epsilon;
            EXPECT_EQ(result.procs, plain.procs);
          }
}

TEST(PackByPack, TakesTheBestEpsilon) {
  const Instance instance(Times(workload_ii(3)), 4);
  double best = kInfinity;
  for (const double epsilon : heuristic::nine_epsilons())
    best = std::min(best, heuristic::pack_by_pack(instance, {epsilon}).cost);
  EXPECT_EQ(heuristic::pack_by_pack(instance, heuristic::nine_epsilons()).cost, best);
}

// Most work of up to `most` candidates on `procs` processors, the first among them: all subsets.
double most_work(const std::vector<heuristic::PackCandidate>& candidates, int procs,
                 int most_tasks) {
  double best = 0;
  for (unsigned set = 1; set < 1U << candidates.size(); set += 2) {
    int used = 0, count = 0;
    double work = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (set >> i & 1) {
        used += candidates[i].procs;
        work += candidates[i].work;
        ++count;
      }
    if (used <= procs && count <= most_tasks) best = std::max(best, work);
  }
  return best;
}

TEST(PackChoice, LeavesTheLeastIdle) {
  Rng rng(1);
  for (int draw = 0; draw < 400; ++draw) {
    SHOW_ON_FAILURE(draw);
    const int procs = static_cast<int>(rng.between(1, 12)), n = static_cast<int>(rng.between(1, 9));
    const int most_tasks = static_cast<int>(rng.between(1, 7));
    std::vector<heuristic::PackCandidate> candidates;
    for (int i = 0; i < n; ++i) {
      const int width = static_cast<int>(rng.between(1, i == 0 ? procs : procs + 2));
      candidates.push_back({width, width * static_cast<double>(rng.between(1, 20))});
    }
    const std::vector<int> chosen = heuristic::least_idle(candidates, procs, most_tasks);
    ASSERT_EQ(chosen.front(), 0);
    ASSERT_LE(chosen.size(), static_cast<std::size_t>(most_tasks));
    int used = 0;
    double work = 0;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (k > 0) {
        ASSERT_LT(chosen[k - 1], chosen[k]);
      }
      used += candidates[chosen[k]].procs;
      work += candidates[chosen[k]].work;
    }
    EXPECT_LE(used, procs);
    EXPECT_DOUBLE_EQ(work, most_work(candidates, procs, most_tasks)) << draw;
  }
}

TEST(PackChoice, TakesTheFirstOfEqualTasksAndRefusesTooManyStates) {
  EXPECT_EQ(heuristic::least_idle({{2, 4}, {1, 1}, {1, 1}, {1, 1}}, 4, 3),
            (std::vector<int>{0, 1, 2}));
  std::vector<heuristic::PackCandidate> wide(20000, {1, 1});
  EXPECT_THROW(heuristic::least_idle(wide, 10000, 5000), InvalidInstance);
}

TEST(PackChoice, CutsAreTheCheapestOfAllContiguousPartitions) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (const int n : {1, 4, 9})
      for (const int k : {1, 3, 9}) {
        const Instance instance(Times(small_table(kind, n, 5, n + k)), k);
        SHOW_ON_FAILURE(instance);
        std::vector<int> order(n);
        for (int i = 0; i < n; ++i) order[i] = (5 * i + 2) % n;
        double best = kInfinity;
        for (unsigned cuts = 0; cuts < 1U << (n - 1); ++cuts) {  // bit i: a cut after task i
          Packs packs(1);
          for (int i = 0; i < n; ++i) {
            packs.back().push_back(order[i]);
            if (i < n - 1 && cuts >> i & 1) packs.emplace_back();
          }
          bool allowed = true;
          for (auto& pack : packs) {
            allowed = allowed && static_cast<int>(pack.size()) <= instance.max_tasks();
            std::sort(pack.begin(), pack.end());
          }
          if (allowed)
            best = std::min(best, heuristic::CandidateCosts(instance.times()).optimal_cost(packs));
        }
        EXPECT_DOUBLE_EQ(
            heuristic::with_optimal_procs(instance.times(), heuristic::best_cuts(instance, order))
                .cost,
            best);
      }
}

TEST(PackByPack, VariantsAreValidAndCutsNeverWorse) {
  int better = 0, other = 0;
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (const int n : {1, 5, 30})
      for (const int k : {1, 3, 16})
        for (const double epsilon : {0.1, 0.5, 0.9}) {
          const Instance instance(Times(small_table(kind, n, 7, 10 * n + k)), k);
          SHOW_ON_FAILURE(instance);
          const double greedy = heuristic::pack_by_pack(instance, {epsilon}).cost;
          const Coschedule cuts =
              heuristic::pack_by_pack(instance, {epsilon}, heuristic::PackChoice::kCuts);
          const Coschedule idle =
              heuristic::pack_by_pack(instance, {epsilon}, heuristic::PackChoice::kIdle);
          require_valid(instance, cuts);
          require_valid(instance, idle);
          EXPECT_LE(cuts.cost, greedy * (1 + 1e-12));
          better += cuts.cost < greedy * (1 - 1e-9);
          other += idle.cost != greedy;
        }
  EXPECT_GT(better, 0);
  EXPECT_GT(other, 0);
}

TEST(PackByPack, RefusesBadEpsilons) {
  const Instance instance(Times(random_table(3, 3, 1)), 2);
  SHOW_ON_FAILURE(instance);
  EXPECT_THROW(heuristic::pack_by_pack(instance, {}), InvalidInstance);
  for (const double bad : {-0.1, 1.0, std::nan("")})
    EXPECT_THROW(heuristic::pack_by_pack(instance, {0.5, bad}), InvalidInstance);
}

TEST(LeastIdle, SizesAreCheckedBeforeMemoryIsTaken) {
  // A table of 2^49 numbers: refused, not tried.
  const std::vector<heuristic::PackCandidate> two{{1, 1}, {1, 1}};
  EXPECT_THROW(heuristic::least_idle(two, 1 << 30, 1 << 20), InvalidInstance);
  EXPECT_THROW(heuristic::least_idle(two, 1 << 30, 1 << 29), InvalidInstance);
}

}  // namespace
}  // namespace cosched::packs
