#include "cosched/packs/heuristic/one_pack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cosched/core/errors.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

double longest(const Times& times, const std::vector<int>& tasks, const std::vector<int>& sigma) {
  double result = 0;
  for (std::size_t k = 0; k < tasks.size(); ++k)
    result = std::max(result, times.measured_time(tasks[k], sigma[k]));
  return result;
}

// A random subset of the tasks in random order.
std::vector<int> some_tasks(int n, Rng& rng) {
  std::vector<int> tasks(n);
  std::iota(tasks.begin(), tasks.end(), 0);
  rng.shuffle(tasks);
  tasks.resize(rng.between(1, n));
  return tasks;
}

// Algorithm 4.2 as the paper writes it, a scan for the longest task each time.
std::vector<int> literal_algorithm(const Times& times, const std::vector<int>& tasks, int procs) {
  std::vector<int> sigma(tasks.size(), 1);
  for (int idle_procs = procs - static_cast<int>(tasks.size()); idle_procs > 0; --idle_procs) {
    std::size_t first = 0;
    for (std::size_t k = 1; k < tasks.size(); ++k) {
      const double time = times(tasks[k], sigma[k]), best = times(tasks[first], sigma[first]);
      if (time > best || (time == best && tasks[k] < tasks[first])) first = k;
    }
    ++sigma[first];
  }
  return sigma;
}

TEST(OnePack, EqualsTheDynamicProgrammeAndEverySplit) {
  Rng rng(1);
  int fitting = 0;
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 1; n <= 5; ++n)
      for (int p = n; p <= 9; ++p)
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          SHOW_ON_FAILURE(kind);
          const Times times(small_table(kind, n, p, 1000 * seed + 10 * n + p));
          const std::vector<int> tasks = some_tasks(n, rng);
          const int procs = static_cast<int>(rng.between(tasks.size(), p));
          const double best = exhaustive_pack(times, tasks, 0, procs);
          for (const auto solver : {heuristic::one_pack, heuristic::one_pack_dynamic_programme}) {
            if (best == kInfinity) {
              EXPECT_THROW(solver(times, tasks, procs), InfeasibleError);
              continue;
            }
            const std::vector<int> sigma = solver(times, tasks, procs);
            EXPECT_LE(std::accumulate(sigma.begin(), sigma.end(), 0), procs);
            EXPECT_EQ(longest(times, tasks, sigma), best) << "n " << n << " p " << p;
            ++fitting;
          }
        }
  EXPECT_GT(fitting, 1000);
}

TEST(OnePack, EqualsTheDynamicProgrammeOnLargePacks) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Times times(speedup_workload(30, 200, seed));
    std::vector<int> tasks(30);
    std::iota(tasks.begin(), tasks.end(), 0);
    EXPECT_EQ(longest(times, tasks, heuristic::one_pack(times, tasks, 200)),
              longest(times, tasks, heuristic::one_pack_dynamic_programme(times, tasks, 200)));
  }
}

TEST(OnePack, TiesGoToTheLongerThenToTheLowerTask) {
  Rng rng(2);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Times times(tied_table(6, 12, seed));
    const std::vector<int> tasks = some_tasks(6, rng);
    EXPECT_EQ(heuristic::one_pack(times, tasks, 12), literal_algorithm(times, tasks, 12))
        << "seed " << seed;
  }
  // Three equal tasks, two processors to give; the answer is in the caller's order.
  const Table equal{{12, 6, 4, 3, 2}, {12, 6, 4, 3, 2}, {12, 6, 4, 3, 2}};
  EXPECT_EQ(heuristic::one_pack(Times(equal), {0, 1, 2}, 5), (std::vector<int>{2, 2, 1}));
  EXPECT_EQ(heuristic::one_pack(Times(equal), {2, 0, 1}, 5), (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(heuristic::one_pack(Times(Table(3, 5, 7.0)), {2, 1, 0}, 5),
            (std::vector<int>{1, 1, 3}));
}

// 100 s on one processor, 60 s on two, 80 s on four: two are used, whatever there is.
TEST(OnePack, GivesATaskOnlyWhatItUses) {
  Table table{{100, 60, 70, 80}};
  EXPECT_EQ(heuristic::one_pack(Times(table), {0}, 4), std::vector<int>{2});
  EXPECT_EQ(heuristic::one_pack_dynamic_programme(Times(table), {0}, 4), std::vector<int>{2});
}

TEST(OnePack, RefusesWhatIsNoPack) {
  const Times times(random_table(4, 3, 1));
  for (const auto solver : {heuristic::one_pack, heuristic::one_pack_dynamic_programme}) {
    EXPECT_THROW(solver(times, {0, 1, 2, 3}, 3), InfeasibleError);
    EXPECT_THROW(solver(times, {0, 1}, 1), InfeasibleError);
    EXPECT_THROW(solver(times, {}, 3), InvalidInstance);
    EXPECT_THROW(solver(times, {0, 0}, 3), InvalidInstance);
    EXPECT_THROW(solver(times, {4}, 3), InvalidInstance);
    EXPECT_THROW(solver(times, {-1}, 3), InvalidInstance);
    EXPECT_THROW(solver(times, {0}, 0), InvalidInstance);
    EXPECT_THROW(solver(times, {0}, 4), InvalidInstance);
  }
  Table two(2, 3);  // each needs two processors
  two = {{kInfinity, 1, 1}, {kInfinity, 1, 1}};
  for (const auto solver : {heuristic::one_pack, heuristic::one_pack_dynamic_programme})
    EXPECT_THROW(solver(Times(two), {0, 1}, 3), InfeasibleError);
}

}  // namespace
}  // namespace cosched::packs
