#include "cosched/moldable/search/local_search.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/free_profile.hpp"
#include "cosched/moldable/search/starts.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

double value(const Instance& instance, const Placement& placement, Objective objective) {
  const Criteria both = evaluate_criteria(instance, placement);
  return objective == Objective::makespan ? both.makespan : both.minsum;
}

Placement searched(const Instance& instance, Objective objective, std::int64_t work) {
  search::SearchOptions options;
  options.objective = objective;
  options.work = work;
  const search::SearchResult result = search::local_search(instance, options);
  EXPECT_TRUE(result.is_complete);
  check::validate(instance, to_schedule(instance, result.placement));
  return result.placement;
}

TEST(MoldableSearch, FindsTheOptimumOfSmallInstances) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      SHOW_ON_FAILURE(kind);
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(1, 4)), m = static_cast<int>(rng.between(1, 3));
      const Instance instance = small_instance(kind, n, m, seed, seed % 2 == 1);
      SHOW_ON_FAILURE(instance);
      const Optima optima = exhaustive_optima(instance);
      for (const Objective objective : {Objective::makespan, Objective::minsum}) {
        const double optimum = objective == Objective::makespan ? optima.makespan : optima.minsum;
        const double found_value =
            value(instance, searched(instance, objective, 30'000), objective);
        EXPECT_NEAR(found_value, optimum, kRounding * optimum) << kind << " " << seed;
      }
    }
}

TEST(MoldableSearch, IsNeverWorseThanItsStarts) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance = small_instance(kind, 12, 6, seed, seed % 2 == 1);
      SHOW_ON_FAILURE(instance);
      for (const Objective objective : {Objective::makespan, Objective::minsum}) {
        double best_start = kInfinity;
        const search::Offer offer = [&](const Placement& placement) {
          check::validate(instance, to_schedule(instance, placement));
          best_start = std::min(best_start, value(instance, placement, objective));
        };
        search::offer_simple_schedules(instance, offer);
        search::offer_family_schedules(instance, 0, offer);
        const double family = best_start;
        search::offer_canonical_lists(instance, best_start, offer);
        EXPECT_LE(value(instance, searched(instance, objective, 0), objective), family);
        EXPECT_LE(value(instance, searched(instance, objective, 2'000), objective), best_start);
      }
    }
}

TEST(MoldableSearch, TakesAStartOfTheCallersWhateverTheLimit) {
  const Instance instance = workload(Kind::high, 12, 8, 1);
  SHOW_ON_FAILURE(instance);
  search::SearchOptions options;
  options.starts.push_back(searched(instance, Objective::makespan, 100'000));
  const double measured_time = makespan(options.starts.front());
  options.time_limit = 0;
  const search::SearchResult result = search::local_search(instance, options);
  EXPECT_FALSE(result.is_complete);
  EXPECT_LE(makespan(result.placement), measured_time);
}

TEST(MoldableSearch, RepeatsForASeedAndRefusesNegativeWork) {
  for (const int n : {20, 120}) {
    const Instance instance = workload(Kind::mixed, n, 16, 2);
    SHOW_ON_FAILURE(instance);
    for (const Objective objective : {Objective::makespan, Objective::minsum}) {
      const Placement first = searched(instance, objective, 20'000);
      const Placement repeated = searched(instance, objective, 20'000);
      EXPECT_EQ(first.procs, repeated.procs);
      EXPECT_EQ(first.start, repeated.start);
    }
  }
  search::SearchOptions options;
  options.work = -1;
  EXPECT_THROW(search::local_search(counterexample(), options), InvalidInstance);
}

TEST(MoldableSearch, RoundsBeyondTheDefaultRepeatAndFindMore) {
  const Instance instance = workload(Kind::cirne, 40, 16, 3);
  SHOW_ON_FAILURE(instance);
  for (const Objective objective : {Objective::makespan, Objective::minsum}) {
    const double first =
        value(instance, searched(instance, objective, search::kSearchWork), objective);
    const Placement initial = searched(instance, objective, 5 * search::kSearchWork);
    const Placement repeated = searched(instance, objective, 5 * search::kSearchWork);
    EXPECT_EQ(initial.start, repeated.start);
    EXPECT_LT(value(instance, initial, objective), first);
  }
}

TEST(LocalSearch, AReleaseThatSwallowsAllTimes) {
  Table times{{7.5, 5.8, 4.6}, {8.9, 7.9, 6.8}};
  for (const double late_release : {1.8e19, 1e300})
    for (const Objective objective : {Objective::makespan, Objective::minsum}) {
      const Instance instance(Times(times), {1, 1}, {3, late_release});
      search::SearchOptions options;
      options.objective = objective;
      options.work = 10'000;
      const search::SearchResult result = search::local_search(instance, options);
      EXPECT_EQ(makespan(result.placement), late_release);
    }
}

}  // namespace
}  // namespace cosched::moldable
