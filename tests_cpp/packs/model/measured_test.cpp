// Every algorithm and bound of packs on tables as they are measured: super-linear, rising, with
// counts that a task cannot run on.
#include <gtest/gtest.h>

#include "cosched/packs/check/validate.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "cosched/packs/exact/branch_price.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

std::vector<Coschedule> exact_answers(const Instance& instance) {
  std::vector<Coschedule> answers{
      exact::optimal(instance).coschedule, search::subset_programme(instance),
      exact::branch_and_price(instance, heuristic::sequential(instance)).coschedule};
  if (instance.max_tasks() <= 2) answers.push_back(exact::pairs(instance));
  return answers;
}

std::vector<Coschedule> heuristic_answers(const Instance& instance, std::uint64_t seed) {
  std::vector<int> fewest(instance.tasks());
  for (int i = 0; i < instance.tasks(); ++i) fewest[i] = instance.times().fewest(i);
  return {heuristic::sequential(instance),
          heuristic::pack_approx(instance, false),
          heuristic::pack_approx(instance, true),
          heuristic::random_pack(instance, 2, seed),
          heuristic::random_proc(instance, 2, seed),
          heuristic::pack_by_pack(instance, {0.5}),
          heuristic::make_pack(instance, fewest, false),
          heuristic::make_pack(instance, fewest, true),
          search::local_search(instance, seed, 5'000).coschedule};
}

// The schedule stands up to the independent validator, and takes as long as it says.
void expect_sound(const Instance& instance, const Coschedule& coschedule, double optimum) {
  require_valid(instance, coschedule);
  const Schedule schedule = to_schedule(instance, coschedule);
  EXPECT_NO_THROW(check::validate(instance, schedule));
  const double end = *std::max_element(schedule.end.begin(), schedule.end.end());
  EXPECT_NEAR(end, coschedule.cost, kRounding * end);
  EXPECT_GE(coschedule.cost, optimum * (1 - kRounding));
}

void check(const Instance& instance, std::uint64_t seed) {
  const double optimum = exhaustive_optimum(instance);
  for (const Coschedule& coschedule : exact_answers(instance)) {
    expect_sound(instance, coschedule, optimum);
    EXPECT_NEAR(coschedule.cost, optimum, 1e-9 * optimum);
  }
  for (const Coschedule& coschedule : heuristic_answers(instance, seed))
    expect_sound(instance, coschedule, optimum);
  for (const auto bound :
       {area_bound(instance), longest_bound(instance), columns::column_bound(instance).value})
    EXPECT_LE(bound, optimum * (1 + kRounding));
  EXPECT_GE(columns::column_bound(instance).value,
            std::max(area_bound(instance), longest_bound(instance)));
}

TEST(Measured, EveryAlgorithmAndBoundOnSmallTables) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      SHOW_ON_FAILURE(kind);
      SCOPED_TRACE("kind " + std::to_string(kind) + " seed " + std::to_string(seed));
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(1, 5)), p = static_cast<int>(rng.between(1, 6));
      const int k = static_cast<int>(rng.between(1, 5));
      check(Instance(Times(small_table(kind, n, p, seed)), k), seed);
    }
}

// Codes that fit into caches on four processors: 40 s on two, 15 s on four.
TEST(Measured, SuperLinearCodesRunOneAfterTheOther) {
  Table table{{100, 40, 25, 15}, {100, 40, 25, 15}};
  const Instance instance(Times(table), 2);
  for (const Coschedule& coschedule : exact_answers(instance)) {
    EXPECT_EQ(coschedule.cost, 30);
    EXPECT_EQ(coschedule.procs, (std::vector<int>{4, 4}));
  }
  EXPECT_NEAR(columns::column_bound(instance).value, 30, 1e-9);
}

TEST(Measured, ATaskGetsTheCountThatAttainsItsTime) {
  Table table{{100, 60, kInfinity, 80}};
  const Instance instance(Times(table), 1);
  for (const auto& answers : {exact_answers(instance), heuristic_answers(instance, 1)})
    for (const Coschedule& each : answers) {
      if (each.cost == 100) continue;  // make_pack keeps one processor, as it was told
      EXPECT_EQ(each.cost, 60);
      EXPECT_EQ(each.procs, std::vector<int>{2});
    }
}

}  // namespace
}  // namespace cosched::packs
