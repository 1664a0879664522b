#include "cosched/moldable/search/full_machine_search.hpp"

#include <gtest/gtest.h>

#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/proof.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

constexpr std::int64_t kManySteps = 50'000'000;

struct Rectangle {
  int procs;
  double time;
};

// Each job runs on exactly so many processors.
Instance rigid_instance(const std::vector<Rectangle>& rectangles, int machines,
                        std::vector<double> releases = {}) {
  const auto n = static_cast<int>(rectangles.size());
  Table table(n, machines, kInfinity);
  for (int i = 0; i < n; ++i) table(i, rectangles[i].procs - 1) = rectangles[i].time;
  return Instance(Times(table), std::vector<double>(n, 1.0), std::move(releases), machines);
}

// Cuts machines x time into rectangles of whole sides, in a random order: each time one of the larger
// half, across its longer side.
std::vector<Rectangle> cut_rectangles(int machines, int time, std::size_t count, Rng& rng) {
  std::vector<Rectangle> rectangles{{machines, static_cast<double>(time)}};
  while (rectangles.size() < count) {
    std::sort(rectangles.begin(), rectangles.end(), [](const Rectangle& a, const Rectangle& b) {
      return a.procs * a.time < b.procs * b.time;
    });
    const std::size_t larger_half = rectangles.size() / 2;
    Rectangle& first = rectangles[larger_half + rng.below(rectangles.size() - larger_half)];
    Rectangle second = first;
    if (first.procs >= first.time) {
      first.procs = static_cast<int>(rng.between(1, first.procs - 1));
      second.procs -= first.procs;
    } else {
      first.time = static_cast<double>(rng.between(1, std::llround(first.time) - 1));
      second.time -= first.time;
    }
    rectangles.push_back(second);
  }
  rng.shuffle(rectangles);
  return rectangles;
}

TEST(FullMachineSearch, FindsTheExampleOfItsHeader) {
  const Instance instance = rigid_instance({{1, 3}, {1, 2}, {1, 1}}, 2);
  auto search = FullMachineSearch::create(instance, 0);
  ASSERT_TRUE(search);
  EXPECT_EQ(search->makespan(), 3);
  const auto placement = search->run(kManySteps);
  ASSERT_TRUE(placement);
  EXPECT_EQ(makespan(*placement), 3);
  require_valid(instance, *placement);
}

TEST(FullMachineSearch, FindsCutRectanglesAgain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Instance instance = rigid_instance(cut_rectangles(70, 30, 20, rng), 70);
    auto search = FullMachineSearch::create(instance, seed);
    ASSERT_TRUE(search);
    const auto placement = search->run(kManySteps);
    ASSERT_TRUE(placement);
    EXPECT_EQ(makespan(*placement), 30);
    require_valid(instance, *placement);
  }
}

TEST(FullMachineSearch, TakesTimesOfAnyCommonUnit) {
  for (const double unit : {0.1, 1.0 / 3, 86400.0}) {
    SHOW_ON_FAILURE(unit);
    Rng rng(5);
    std::vector<Rectangle> rectangles = cut_rectangles(16, 20, 12, rng);
    for (Rectangle& rectangle : rectangles) rectangle.time *= unit;
    const Instance instance = rigid_instance(rectangles, 16);
    auto search = FullMachineSearch::create(instance, 0);
    ASSERT_TRUE(search);
    EXPECT_NEAR(search->makespan(), 20 * unit, 1e-9 * unit);
    const auto placement = search->run(kManySteps);
    ASSERT_TRUE(placement);
    EXPECT_NEAR(makespan(*placement), 20 * unit, 1e-9 * unit);
    require_valid(instance, *placement);
  }
}

// Small rectangles with swapped sides: some have such a schedule, others not.
TEST(FullMachineSearch, FindsAScheduleExactlyWhereThereIsOne) {
  int found_schedules = 0, exhausted_searches = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    std::vector<Rectangle> rectangles = cut_rectangles(6, 6, 7, rng);
    for (Rectangle& rectangle : rectangles)
      if (rng.below(3) == 0)
        rectangle = {static_cast<int>(rectangle.time), static_cast<double>(rectangle.procs)};
    const Instance instance = rigid_instance(rectangles, 6);
    auto search = FullMachineSearch::create(instance, seed);
    ASSERT_TRUE(search);
    const auto placement = search->run(kManySteps);
    EXPECT_TRUE(search->is_exhausted());
    SearchOptions options;
    options.work = 1000;
    options.proof = false;
    const ProofResult proof = prove(instance, local_search(instance, options).placement, {});
    ASSERT_TRUE(proof.is_proved);
    EXPECT_EQ(placement.has_value(), makespan(proof.placement) <= 6);
    ++(placement ? found_schedules : exhausted_searches);
    EXPECT_FALSE(search->run(kManySteps));
  }
  EXPECT_GT(found_schedules, 20);
  EXPECT_GT(exhausted_searches, 20);
}

TEST(FullMachineSearch, GoesOnWhereItsStepsEnded) {
  Rng rng(3);
  const Instance instance = rigid_instance(cut_rectangles(40, 40, 30, rng), 40);
  SHOW_ON_FAILURE(instance);
  auto search = FullMachineSearch::create(instance, 0);
  ASSERT_TRUE(search);
  EXPECT_FALSE(search->run(1000));
  EXPECT_FALSE(search->is_exhausted());
  std::optional<Placement> placement;
  for (int k = 0; k < 1000 && !placement; ++k) placement = search->run(1'000'000);
  ASSERT_TRUE(placement);
  EXPECT_EQ(makespan(*placement), 40);
}

TEST(FullMachineSearch, IsNotCreatedWhereProcessorsMustBeIdle) {
  const std::vector<Rectangle> rectangles{{1, 3}, {1, 2}, {1, 1}};
  EXPECT_FALSE(FullMachineSearch::create(rigid_instance(rectangles, 2, {0, 0, 1}), 0));
  EXPECT_FALSE(FullMachineSearch::create(rigid_instance({{1, 3}, {1, 2}}, 2), 0)) << "area 5";
  EXPECT_FALSE(FullMachineSearch::create(rigid_instance({{1, 3}, {1, 1}}, 2), 0))
      << "one is longer";
  EXPECT_FALSE(FullMachineSearch::create(rigid_instance({{1, 1}, {1, std::sqrt(2)}}, 2), 0));
  const Instance moldable(Times(Table{{2, 1}, {2, 2}}), {1, 1}, {}, 2);
  EXPECT_FALSE(FullMachineSearch::create(moldable, 0));
  FullMachineParams params;
  params.max_jobs = 2;
  EXPECT_FALSE(FullMachineSearch::create(rigid_instance(rectangles, 2), 0, params));
}

// By annealing alone such schedules end one second later.
TEST(FullMachineSearch, GivesLocalSearchTheOptimumOfCutRectangles) {
  int proved_schedules = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Instance instance = rigid_instance(cut_rectangles(60, 30, 28, rng), 60);
    SearchOptions options;
    options.seed = seed;
    const SearchResult result = local_search(instance, options);
    require_valid(instance, result.placement);
    EXPECT_LE(makespan(result.placement), 31);
    EXPECT_EQ(result.is_proved, makespan(result.placement) == 30);
    proved_schedules += result.is_proved;
  }
  EXPECT_GE(proved_schedules, 4);
}

}  // namespace
}  // namespace cosched::moldable::search
