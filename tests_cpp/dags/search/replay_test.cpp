// Plans under other times: the same to the bit where nothing changes, above every bound where it
// does.
#include "cosched/dags/search/replay.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/search/branch_and_bound.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/dags/search/optimal.hpp"
#include "cosched/dags/search/replay_draws.hpp"
#include "dags/plain_schedules.hpp"
#include "dags/transfer_graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

using search::ReplayRule;

Instance any_instance(Rng& rng, int round, int most_tasks) {
  graphs::RandomOptions options;
  options.tasks = 1 + static_cast<int>(rng.below(most_tasks));
  options.types = 1 + round % 3;
  options.density = 0.4 * rng.uniform();
  options.integers = round % 2 == 0;
  const Instance plain = graphs::random(rng, options);
  return round % 4 < 2 ? plain : graphs::with_random_transfers(rng, plain, 0.1 + 2 * rng.uniform());
}

Table random_factors(Rng& rng, int draws, int tasks) {
  Table factors(draws, tasks);
  for (int draw = 0; draw < draws; ++draw)
    for (int task = 0; task < tasks; ++task) factors(draw, task) = 0.3 + 2 * rng.uniform();
  return factors;
}

TEST(Replay, UnchangedTimesGiveThePlanToTheBit) {
  Rng rng(341);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = any_instance(rng, round, round % 5 == 0 ? 9 : 40);
    SHOW_ON_FAILURE(instance);
    search::HlpBestOptions few_evaluations;
    few_evaluations.evaluations = 60;
    std::vector<Plan> plans{list::heft(instance),
                            list::cpop(instance),
                            list::etf(instance),
                            list::ols(instance, plain::random_allocation(instance, rng)),
                            list::est(instance, plain::random_allocation(instance, rng)),
                            search::hlp_best(instance, few_evaluations).plan};
    if (instance.tasks() < 10) plans.push_back(search::optimal(instance).plan);
    for (const Plan& plan : plans) {
      const Plan replayed = search::Replay(instance, plan, ReplayRule::units).run(instance);
      EXPECT_EQ(replayed.kind, plan.kind);
      EXPECT_EQ(replayed.unit, plan.unit);
      EXPECT_EQ(replayed.start, plan.start);
      EXPECT_EQ(replayed.end, plan.end);
    }
  }
}

TEST(Replay, ThePlanOfAListIsItsOwnReplay) {
  Rng rng(342);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = any_instance(rng, 0, 30);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::ols(instance, plain::random_allocation(instance, rng));
    EXPECT_EQ(search::Replay(instance, plan, ReplayRule::list).run(instance).makespan(),
              plan.makespan());
  }
}

// More cases: COSCHED_DRAWS=500, rounds of twice ten draws.
TEST(Replay, DrawsAreValidAndNoBoundIsAboveThem) {
  Rng rng(343);
  const char* requested_draws = std::getenv("COSCHED_DRAWS");
  const int rounds = requested_draws ? std::atoi(requested_draws) : 60;
  double warm = 0, cold = 0;
  for (int round = 0; round < rounds; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = any_instance(rng, round, 16);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance);
    const hlp::HlpCertificate relaxation = hlp::hlp(instance).certificate;
    const Table factors = random_factors(rng, 10, instance.tasks());
    for (const ReplayRule replay_rule : {ReplayRule::units, ReplayRule::list}) {
      const search::ReplayDraws draws =
          search::replay_draws(instance, plan, replay_rule, factors, &relaxation);
      ASSERT_EQ(draws.value.size(), 10u);
      for (int draw = 0; draw < 10; ++draw) {
        SHOW_ON_FAILURE(draw);
        Table times = instance.times();
        for (int task = 0; task < instance.tasks(); ++task)
          for (int type = 0; type < instance.types(); ++type)
            times(task, type) *= factors(draw, task);
        const Instance drawn(times, instance.graph(), instance.units(), instance.transfers());
        SHOW_ON_FAILURE(drawn);
        const Plan replayed = search::Replay(instance, plan, replay_rule).run(drawn);
        plain::expect_valid(drawn, replayed);
        EXPECT_EQ(replayed.kind, plan.kind);
        EXPECT_EQ(replayed.makespan(), draws.value[draw]);
        EXPECT_LE(draws.bound[draw], draws.value[draw] * (1 + kExactTolerance));
        if (draw > 0 || instance.tasks() > 9) continue;
        const double optimum = search::optimal(drawn).plan.makespan();
        EXPECT_LE(draws.bound[draw], optimum * (1 + kExactTolerance));
        if (optimum == 0) continue;
        warm += draws.bound[draw] / optimum;
        cold += proof::windows_bound(drawn, hlp::hlp(drawn).certificate).value / optimum;
      }
    }
  }
  EXPECT_GE(warm, 0.998 * cold);  // no more is lost than the coarser steps cost
}

}  // namespace
}  // namespace cosched::dags
