// Decoders make feasible schedules of any order, and the search reaches the optimum of small
// graphs.
#include "cosched/dags/search/order_search.hpp"

#include <gtest/gtest.h>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "dags/brute_force.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

// A random order that respects precedence, and random types.
search::TypedOrder random_candidate(const Instance& instance, Rng& rng) {
  std::vector<double> noise(instance.tasks());
  for (double& value : noise) value = rng.uniform();
  const std::vector<double> rank = compute_ranks(instance.graph(), noise);
  search::TypedOrder candidate{instance.graph().order(), Allocation(instance.tasks())};
  std::stable_sort(candidate.order.begin(), candidate.order.end(),
                   [&](int a, int b) { return rank[a] > rank[b]; });
  for (int task = 0; task < instance.tasks(); ++task) do
      candidate.allocation[task] = static_cast<int>(rng.below(instance.types()));
    while (!instance.can_run(task, candidate.allocation[task]));
  return candidate;
}

TEST(Decoder, MakesFeasibleSchedulesAndJustifyingNeverLengthensThem) {
  Rng rng(31);
  int shorter = 0, without_units = 0;
  for (int round = 0; round < 1000; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(30));
    options.types = 1 + round % 3;
    options.density = 0.3 * rng.uniform();
    options.integers = round % 3 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const search::TypedOrder candidate = random_candidate(instance, rng);
    search::OrderDecoder decoder(instance);
    const auto check = [&](double makespan) {
      const std::optional<Plan> plan = decoder.plan(candidate.allocation);
      without_units += !plan;
      if (!plan) return;
      EXPECT_EQ(plan->makespan(), makespan);
      EXPECT_NO_THROW(validate(plan->schedule(), check::requirements(instance)));
      EXPECT_EQ(plan->kind, candidate.allocation);
    };
    const double plain = decoder.decode_serial(candidate.order, candidate.allocation, false);
    check(plain);
    const double justified = decoder.decode_serial(candidate.order, candidate.allocation, true);
    check(justified);
    EXPECT_LE(justified, plain * (1 + 1e-12));
    shorter += justified < plain * (1 - 1e-9);
    check(decoder.decode_list(candidate.order, candidate.allocation));
    // In the order of its starts nothing starts later.
    const double justified_twice =
        decoder.decode_serial(decoder.order_by_start(), candidate.allocation, false);
    EXPECT_LE(justified_twice,
              decoder.decode_list(candidate.order, candidate.allocation) * (1 + 1e-12));
  }
  EXPECT_GE(shorter, 100);
  EXPECT_LE(without_units, 100);
}

TEST(OrderSearch, FindsTheOptimumOfSmallGraphs) {
  Rng rng(32);
  int optimum_count = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 3 + round % 5;
    options.types = 1 + round % 3;
    options.most_units = 2;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const double optimum = brute_force(instance);
    const Plan start = list::heft(instance);
    double best = start.makespan();
    search::OrderSearch search(instance, start, {}, 1);
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

TEST(OrderSearch, RepeatsWithItsSeedAndStopsAtALimit) {
  const Instance instance = graphs::cholesky(7, {3, 1}, 0.2, 5);
  const auto run = [&](std::uint64_t seed) {
    std::vector<double> values;
    search::OrderSearch search(instance, list::heft(instance), {}, seed);
    search.run(2000, [&](const Plan& plan) {
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
