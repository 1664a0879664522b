// The bound windows: below the optimum, its certificates hold and damaged ones do not.
#include "cosched/dags/proof/windows_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/proof/time_windows.hpp"
#include "dags/brute_force.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

proof::WindowsBound windows_of(const Instance& instance, std::optional<double> upper = {}) {
  proof::BoundOptions options;
  options.upper = upper;
  return proof::windows_bound(instance, hlp::hlp(instance).certificate, options);
}

graphs::RandomOptions small_options(Rng& rng, int round) {
  graphs::RandomOptions options;
  options.types = 1 + round % 3;
  options.tasks = 1 + static_cast<int>(rng.below(7));
  options.most_units = 2;
  options.density = 0.5 * rng.uniform() * rng.uniform();
  options.cannot = round % 2 == 0 ? 0.15 : 0.4;
  options.integers = round % 4 == 0;
  return options;
}

TEST(Windows, IsBelowTheOptimumOfTenThousandSmallInstances) {
  Rng rng(21);
  int better = 0, met = 0;
  for (int round = 0; round < 10000; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = graphs::random(rng, small_options(rng, round));
    SHOW_ON_FAILURE(instance);
    const double optimum = brute_force(instance);
    const double lp = hlp::hlp(instance).value;
    const proof::WindowsBound bound =
        windows_of(instance, round % 5 == 0 ? std::optional(optimum) : std::nullopt);
    ASSERT_TRUE(bound.complete);
    ASSERT_LE(bound.value, optimum * (1 + 1e-9)) << round;
    ASSERT_GE(bound.value, lp * (1 - 1e-9)) << round;
    ASSERT_EQ(check::certified_bound(instance, bound.certificate), bound.value) << round;
    better += bound.value > lp * (1 + 1e-6);
    met += bound.value >= optimum * (1 - 1e-3);
  }
  EXPECT_GE(better, 1000);  // than LP*
  EXPECT_GE(met, 9000);     // within 0.1%
}

// Numbers of a certificate that are changed do not make it prove what is false.
TEST(Windows, NoDamagedCertificateProvesMoreThanTheOptimum) {
  Rng rng(22);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = graphs::random(rng, small_options(rng, round));
    SHOW_ON_FAILURE(instance);
    const double optimum = brute_force(instance);
    proof::WindowsBound bound = windows_of(instance);
    proof::Refutation& proof = bound.certificate.refutation;
    const double factor = 1 + 2 * rng.uniform();
    proof.makespan = std::max(proof.makespan, hlp::hlp(instance).value) * factor;
    for (proof::RefutationStage& stage : proof.stages) {
      const double scale = 2 * rng.uniform();
      for (double& load : stage.loads) load *= scale;
      for (double& flow : stage.task_flow) flow += rng.uniform();
      for (proof::PricedInterval& priced : stage.intervals) priced.interval.end *= factor;
    }
    try {
      EXPECT_LE(check::certified_bound(instance, bound.certificate), optimum * (1 + 1e-9)) << round;
    } catch (const SolverError&) {
      ++refused;
    }
  }
  EXPECT_GE(refused, 1000);
}

TEST(Windows, StagesOfTheWrongShapeAreRefused) {
  const Instance instance = graphs::make({{3, 3}, {3, 3}, {3, 3}}, {{0, 1}}, {1, 1});
  const proof::WindowsBound bound = windows_of(instance);
  const auto refuse = [&](const proof::RefutationStage& stage) {
    proof::WindowsCertificate certificate = bound.certificate;
    certificate.refutation.makespan = 4;
    certificate.refutation.stages = {stage};
    EXPECT_THROW(check::certified_bound(instance, certificate), SolverError);
  };
  refuse({{}, {1}, {}, {}, {}});
  refuse({{0.7, 0.7}, {}, {}, {}, {}});
  refuse({{}, {1, -1}, {}, {}, {}});
  refuse({{}, {1, 1}, {1, 1}, {}, {}});
  refuse({{}, {1, 1}, {1, 1, 1}, {{1, 2, 1}}, {}});
  refuse({{}, {1, 1}, {}, {{0, 1, 1}}, {}});
  refuse({{}, {1, 1}, {}, {}, {{{2, 0, 1}, 1}}});
  refuse({{}, {1, 1}, {}, {}, {{{0, 1, 1}, 1}}});
  refuse({{}, {0, 0}, {}, {}, {{{0, 0, 4}, kInfinity}}});
}

// Task 0 takes 3 s, then tasks 1 and 2, then tasks 3 and 4: 3 s + 3 s (3 s and 2 s on one type each)
// + 2 s.  LP* is less: it shares tasks between the types.  Only paths and loads combined, with types
// that are closed to some tasks, prove 8 s.
TEST(Windows, CombinesPathsAndLoadsToTheOptimumOfThreeStages) {
  const Instance instance(Table{{3, kInfinity}, {4, 2}, {3, 2}, {3, 1}, {2, 1}},
                          TaskGraph(5, {{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}}), {1, 1});
  EXPECT_DOUBLE_EQ(brute_force(instance), 8);
  EXPECT_LT(hlp::hlp(instance).value, 7.5);
  EXPECT_DOUBLE_EQ(windows_of(instance).value, 8);
}

TEST(Windows, StopsAtItsLimitWithAProof) {
  Rng rng(23);
  graphs::RandomOptions options;
  options.tasks = 150;
  options.density = 0.03;
  const Instance instance = graphs::random(rng, options);
  SHOW_ON_FAILURE(instance);
  const hlp::HlpCertificate relaxation = hlp::hlp(instance).certificate;
  bool complete = false;
  for (int micros = 0; micros < 10'000'000 && !complete; micros = 2 * micros + 100) {
    const ScopedTimeLimit limit(1e-6 * micros);
    const proof::WindowsBound bound = proof::windows_bound(instance, relaxation);
    complete = bound.complete;
    EXPECT_TRUE(micros > 0 || !complete);
    EXPECT_EQ(check::certified_bound(instance, bound.certificate), bound.value);
  }
  EXPECT_TRUE(complete);
}

// A chain of tasks of 1, 1 and 1 s, the second 5 s on the other type: before it 1 s, behind it 1 s.
TEST(TimeWindows, CloseATypeOnWhichATaskDoesNotFitBetweenItsHeadAndTail) {
  const Instance chain(Table{{1, 1}, {1, 5}, {1, 1}}, TaskGraph(3, {{0, 1}, {1, 2}}), {1, 1});
  proof::TimeWindows windows(chain, 6.5);
  ASSERT_TRUE(windows.prune(0));
  EXPECT_EQ(windows.head(1), 1);
  EXPECT_EQ(windows.tail(1), 1);
  EXPECT_FALSE(windows.is_open(1, 1));  // 1 + 5 + 1 > 6.5
  EXPECT_TRUE(windows.is_open(1, 0));
  proof::TimeWindows longer(chain, 7);
  ASSERT_TRUE(longer.prune(0));
  EXPECT_TRUE(longer.is_open(1, 1));
  proof::TimeWindows shorter(chain, 2.9);
  EXPECT_FALSE(shorter.prune(0));  // the chain alone takes 3 s
}

}  // namespace
}  // namespace cosched::dags
