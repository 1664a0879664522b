// Rounds of growing length: better with more of them, and reproducible.
#include "cosched/dags/search/rounds.hpp"

#include <gtest/gtest.h>

#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

struct Walk {
  std::vector<double> after;  // each part of the work: the best makespan
  std::int64_t built = 0;
};

Walk run(const Instance& instance, int parts, std::int64_t part) {
  const Plan start = list::heft(instance);
  search::Rounds rounds(instance, start, {}, 7, 50);
  Walk walk;
  double best = start.makespan();
  for (int k = 1; k <= parts; ++k) {
    while (walk.built < k * part)
      walk.built += rounds.run_round(k * part - walk.built, [&](const Plan& plan) {
        EXPECT_LT(plan.makespan(), best);
        EXPECT_NO_THROW(validate(plan.schedule(), check::requirements(instance)));
        best = plan.makespan();
        return true;
      });
    walk.after.push_back(best);
  }
  return walk;
}

TEST(Rounds, GoOnImproving) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const Walk walk = run(instance, 2, 3000);
  EXPECT_LT(walk.after[0], list::heft(instance).makespan());
  EXPECT_LE(walk.after[1], walk.after[0]);
  EXPECT_EQ(run(instance, 2, 3000).after, walk.after);
}

TEST(Rounds, EndWhereTheCallerSaysSo) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  search::Rounds rounds(instance, list::heft(instance), {}, 7, 1'000'000);
  int calls = 0;
  const std::int64_t built = rounds.run_round(1'000'000, [&](const Plan&) { return ++calls < 3; });
  EXPECT_EQ(calls, 3);
  EXPECT_LT(built, 1'000'000);
}

TEST(HlpBest, WorkEndsItBeforeItsTimeLimit) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  search::HlpBestOptions options;
  options.evaluations = 100;
  options.time_limit = 1e6;
  const search::HlpBestResult result = search::hlp_best(instance, options);
  EXPECT_TRUE(result.is_complete);
  EXPECT_LE(result.plan.makespan(), list::heft(instance).makespan());
}

}  // namespace
}  // namespace cosched::dags
