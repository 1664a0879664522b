// Decoders with transfers make feasible schedules of any order, and the search reaches the optimum
// of small graphs.
#include "cosched/dags/search/place_search.hpp"

#include <gtest/gtest.h>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "dags/brute_force.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(PlaceDecoder, MakesFeasibleSchedulesAndJustifyingNeverLengthensThem) {
  Rng rng(91);
  int shorter = 0;
  for (int round = 0; round < 1500; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(30));
    options.types = 1 + round % 3;
    options.density = 0.3 * rng.uniform();
    options.integers = round % 3 == 0;
    const Instance instance = graphs::with_transfers(rng, graphs::random(rng, options), 1);
    SHOW_ON_FAILURE(instance);
    std::vector<double> noise(instance.tasks());
    for (double& value : noise) value = rng.uniform();
    const std::vector<double> rank = compute_ranks(instance.graph(), noise);
    std::vector<int> order = instance.graph().order();
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
    search::PlaceDecoder decoder(instance);
    std::vector<int> units;
    for (int task = 0; task < instance.tasks(); ++task) {
      int unit;
      do unit = static_cast<int>(rng.below(decoder.numbers().count()));
      while (!instance.can_run(task, decoder.numbers().place(unit).type));
      units.push_back(unit);
    }
    const auto check = [&](double makespan) {
      const Plan plan = decoder.plan(units);
      EXPECT_EQ(plan.makespan(), makespan);
      EXPECT_NO_THROW(validate(plan.schedule(), check::requirements(instance)));
      EXPECT_FALSE(decoder.deciding_chain(units).empty());
    };
    const double plain = decoder.decode(order, units, false);
    check(plain);
    const double justified = decoder.decode(order, units, true);
    check(justified);
    EXPECT_LE(justified, plain * (1 + 1e-12));
    shorter += justified < plain * (1 - 1e-9);
    EXPECT_LE(decoder.decode(decoder.order_by_start(), units, false), justified * (1 + 1e-12));
  }
  EXPECT_GE(shorter, 150);
}

Instance small_instance(Rng& rng, int round, double ccr) {
  graphs::RandomOptions options;
  options.tasks = 3 + round % 4;
  options.types = 1 + round % 3;
  options.density = 0.5;
  options.most_units = 2;
  for (;;) {
    Instance instance = graphs::with_transfers(rng, graphs::random(rng, options), ccr);
    if (!instance.transfers().is_free()) return instance;
  }
}

TEST(PlaceSearch, FindsTheOptimumOfSmallGraphs) {
  Rng rng(92);
  int optimum_count = 0;
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    SHOW_ON_FAILURE(round);
    const double ccr = round % 3 == 0 ? 0.1 : round % 3 == 1 ? 1 : 5;
    const Instance instance = small_instance(rng, round, ccr);
    SHOW_ON_FAILURE(instance);
    const double optimum = brute_force_with_transfers(instance);
    const Plan start = list::heft(instance);
    double best = start.makespan();
    search::PlaceSearch search(instance, start, 1);
    search.run(3000, [&](const Plan& plan) {
      EXPECT_LT(plan.makespan(), best);
      EXPECT_NO_THROW(validate(plan.schedule(), check::requirements(instance)));
      best = plan.makespan();
      return best > optimum * (1 + 1e-9);
    });
    EXPECT_GE(best, optimum * (1 - 1e-12));
    optimum_count += best <= optimum * (1 + 1e-9);
  }
  EXPECT_GE(optimum_count, kRounds * 99 / 100);
}

TEST(PlaceSearch, IsNeverWorseThanTheHeuristicsAndNearTheOptimum) {
  Rng rng(93);
  int proved = 0;
  for (const double ccr : {0.1, 1.0, 5.0}) {
    double sum = 0;
    constexpr int kRounds = 40;
    for (int round = 0; round < kRounds; ++round) {
      SHOW_ON_FAILURE(round);
      const Instance instance = small_instance(rng, round, ccr);
      SHOW_ON_FAILURE(instance);
      search::HlpBestOptions options;
      options.evaluations = 6000;
      const search::HlpBestResult result = search::hlp_best(instance, options);
      const double makespan = result.plan.makespan(),
                   optimum = brute_force_with_transfers(instance);
      EXPECT_NO_THROW(validate(result.plan.schedule(), check::requirements(instance)));
      for (const Plan& other : {list::heft(instance), list::cpop(instance), list::peft(instance)})
        EXPECT_LE(makespan, other.makespan());
      for (int type = 0; type < instance.types(); ++type)
        EXPECT_LE(makespan, list::schedule_on_one_unit(instance, type).makespan());
      EXPECT_GE(makespan, optimum * (1 - 1e-12));
      EXPECT_LE(result.windows_bound.value, optimum * (1 + 1e-9));
      if (result.transfers_bound) {
        EXPECT_LE(check::certified_bound(instance, result.transfers_bound->certificate),
                  optimum * (1 + 1e-9));
        proved += search::is_proven_optimal(makespan, result.transfers_bound->value);
      }
      sum += makespan / optimum;
    }
    EXPECT_LE(sum / kRounds, 1.005) << ccr;
  }
  EXPECT_GE(proved, 50);
}

TEST(PlaceSearch, RepeatsWithItsSeedAndStopsAtALimit) {
  Rng rng(94);
  const Instance instance = graphs::with_transfers(rng, graphs::cholesky(6, {3, 1}, 0.2, 5), 20);
  SHOW_ON_FAILURE(instance);
  const auto run = [&](std::uint64_t seed) {
    std::vector<double> values;
    search::PlaceSearch search(instance, list::heft(instance), seed);
    search.run(3000, [&](const Plan& plan) {
      values.push_back(plan.makespan());
      return true;
    });
    return values;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  const ScopedTimeLimit limit(0);
  EXPECT_THROW(run(1), TimeLimit);
}

}  // namespace
}  // namespace cosched::dags
