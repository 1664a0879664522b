// The bound transfers: below the optimum, its certificates hold and damaged ones do not.
#include "cosched/dags/proof/transfers_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/proof/transfers_relaxation.hpp"
#include "cosched/dags/proof/windows_bound.hpp"
#include "dags/transfer_graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

proof::TransfersBound transfers_of(const Instance& instance, std::optional<double> upper = {}) {
  const proof::WindowsBound windows =
      proof::windows_bound(instance, hlp::hlp(instance).certificate);
  proof::BoundOptions options;
  options.upper = upper;
  return proof::transfers_bound(instance, windows.certificate, options);
}

Instance small(Rng& rng, int round) {
  graphs::RandomOptions options;
  options.types = 1 + round % 3;
  options.tasks = 1 + static_cast<int>(rng.below(6));
  options.most_units = 2;
  options.density = 0.8 * rng.uniform();
  options.cannot = round % 2 == 0 ? 0.15 : 0.4;
  options.integers = round % 4 == 0;
  const double ccr = round % 5 == 0 ? 0.1 : round % 5 < 3 ? 1 : 5;
  return graphs::with_random_transfers(rng, graphs::random(rng, options), ccr);
}

TEST(TransfersBound, IsBelowTheOptimumOfThousandsOfSmallInstances) {
  Rng rng(31);
  int better = 0, met = 0;
  double ratio = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = small(rng, round);
    SHOW_ON_FAILURE(instance);
    const double optimum = graphs::exhaustive(instance);
    const double plain = proof::windows_bound(instance, hlp::hlp(instance).certificate).value;
    const proof::TransfersBound bound =
        transfers_of(instance, round % 5 == 0 ? std::optional(optimum) : std::nullopt);
    ASSERT_TRUE(bound.complete);
    ASSERT_LE(bound.value, optimum * (1 + 1e-9)) << round;
    ASSERT_GE(bound.value, plain) << round;
    ASSERT_EQ(check::certified_bound(instance, bound.certificate), bound.value) << round;
    better += bound.value > plain * (1 + 1e-6);
    met += bound.value >= optimum * (1 - 1e-3);
    ratio += optimum > 0 ? bound.value / optimum : 1;
  }
  EXPECT_GE(better, kRounds / 4);    // than without transfers
  EXPECT_GE(met, kRounds * 9 / 10);  // within 0.1%
  EXPECT_GE(ratio / kRounds, 0.99);
}

// Numbers of a certificate that are changed do not make it prove what is false.
TEST(TransfersBound, NoDamagedCertificateProvesMoreThanTheOptimum) {
  Rng rng(33);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = small(rng, round);
    SHOW_ON_FAILURE(instance);
    const double optimum = graphs::exhaustive(instance);
    proof::TransfersBound bound = transfers_of(instance);
    proof::TransferRefutation& proof = bound.certificate.refutation;
    proof.makespan = std::max(proof.makespan, bound.value) * (1 + 2 * rng.uniform());
    if (round % 2 == 0) {  // a stage of nothing but chance
      proof::TransferStage stage;
      for (int type = 0; type < instance.types(); ++type) stage.loads.push_back(rng.uniform());
      for (int task = 0; task < instance.tasks(); ++task) stage.task_flow.push_back(rng.uniform());
      for (int edge = 0; edge < instance.graph().edges(); ++edge) {
        stage.edge_flow.push_back(rng.uniform());
        for (int type = 0; type < instance.types(); ++type)
          stage.shift.push_back((rng.uniform() - 0.5) * (round % 8 == 0 ? 1e18 : 10));
      }
      const double begin = proof.makespan * rng.uniform();
      stage.intervals = {{{0, begin, begin + rng.uniform() + 1e-3}, rng.uniform()}};
      proof.stages.push_back(std::move(stage));
    }
    for (proof::TransferStage& stage : proof.stages) {
      const double scale = 2 * rng.uniform();
      for (double& load : stage.loads) load *= scale;
      for (double& flow : stage.task_flow) flow += rng.uniform();
      for (double& flow : stage.edge_flow) flow *= 2 * rng.uniform();
      for (double& shift : stage.shift) shift *= 2 * rng.uniform();
      for (proof::TransferGuess& guess : stage.guesses)
        if (rng.below(2) == 0) guess.choice = static_cast<int>(rng.below(instance.types()));
    }
    try {
      EXPECT_LE(check::certified_bound(instance, bound.certificate), optimum * (1 + 1e-9)) << round;
    } catch (const SolverError&) {
      ++refused;
    }
  }
  EXPECT_GE(refused, 1000);
}

TEST(TransfersBound, ACertificateHoldsForEverySlowerNetwork) {
  Rng rng(34);
  int with_stages = 0, lower = 0;
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.types = 1 + round % 3;
    options.tasks = 12;
    options.most_units = 2;
    const Instance fast =
        graphs::with_random_transfers(rng, graphs::random(rng, options), 0.2 * (1 + round % 4));
    Links links = fast.transfers().links();
    const double slower = 1 + rng.uniform(), later = 1 + rng.uniform();
    for (double& rate : links.bandwidth) rate /= slower;
    for (double& wait : links.latency) wait *= later;
    const Instance slow = graphs::with_transfers(fast, fast.transfers().data(), links);
    SHOW_ON_FAILURE(slow);
    const proof::TransfersBound bound = transfers_of(fast);
    with_stages += !bound.certificate.refutation.stages.empty();
    EXPECT_EQ(check::certified_bound(slow, bound.certificate), bound.value) << round;
    lower += transfers_of(slow).value < bound.value * (1 - 2e-4);
  }
  EXPECT_GE(with_stages, 10);
  EXPECT_LE(lower, 3);  // where the search on its own does not find as much
}

// Bound / optimum on average, at three ratios of communication to computation.
TEST(TransfersBound, IsTightOnSmallGraphs) {
  for (const auto& [ccr, least_ratio] : {std::pair{0.1, 0.99}, {1.0, 0.97}, {5.0, 0.93}}) {
    Rng rng(32);
    double sum = 0, plain = 0;
    constexpr int kRounds = 60;
    for (int round = 0; round < kRounds; ++round) {
      graphs::RandomOptions options;
      options.tasks = 7;
      options.most_units = 2;
      options.density = 0.35;
      Instance graph = graphs::random(rng, options);
      if (round % 2 == 0) {  // related times
        Table times = graph.times();
        for (std::ptrdiff_t task = 0; task < times.rows(); ++task) {
          times(task, 1) = times.row(task).least();
          times(task, 0) = 3 * times(task, 1);
        }
        graph = Instance(times, graph.graph(), graph.units());
      }
      const Instance instance = graphs::with_random_transfers(rng, graph, ccr);
      SHOW_ON_FAILURE(instance);
      const double optimum = graphs::exhaustive(instance);
      sum += transfers_of(instance).value / optimum;
      plain += proof::windows_bound(instance, hlp::hlp(instance).certificate).value / optimum;
    }
    EXPECT_GE(sum / kRounds, least_ratio) << ccr;
    EXPECT_LE(plain / kRounds, least_ratio) << ccr;  // without them it is not
  }
}

TEST(TransfersBound, StagesOfTheWrongShapeAreRefused) {
  const Instance plain = graphs::make({{3, 3}, {3, 3}, {3, 3}}, {{0, 1}}, {1, 1});
  const Instance instance = graphs::with_transfers(
      plain, {2}, {Table(2, 2, 1), Table(2, 2), {Memories::MemoryKind::unit, {}}});
  const proof::TransfersBound bound = transfers_of(instance);
  const auto refuse = [&](const proof::TransferStage& stage) {
    proof::TransfersCertificate certificate = bound.certificate;
    certificate.refutation.makespan = 4;
    certificate.refutation.stages = {stage};
    EXPECT_THROW(check::certified_bound(instance, certificate), SolverError);
  };
  refuse({{}, {1}, {}, {}, {}, {}, {}});
  refuse({{0.7, 0.7}, {}, {}, {}, {}, {}, {}});
  refuse({{}, {1, -1}, {}, {}, {}, {}, {}});
  refuse({{}, {1, 1}, {1, 1}, {1}, {}, {}, {}});
  refuse({{}, {1, 1}, {1, 1, 1}, {}, {}, {}, {}});
  refuse({{}, {1, 1}, {1, 1, 1}, {-1}, {}, {}, {}});
  refuse({{}, {1, 1}, {1, 1, 1}, {1}, {1}, {}, {}});
  refuse({{}, {1, 1}, {1, 1, 1}, {1}, {1, kInfinity}, {}, {}});
  refuse({{}, {1, 1}, {}, {}, {}, {{{2, 0, 1}, 1}}, {}});
  refuse({{}, {1, 1}, {}, {}, {}, {{{0, 1, 1}, 1}}, {}});
  refuse({{}, {}, {}, {}, {}, {}, {{false, 3, 0}}});
  refuse({{}, {}, {}, {}, {}, {}, {{false, 0, 2}}});
  refuse({{}, {}, {}, {}, {}, {}, {{true, 1, 0}}});
  refuse({{}, {}, {}, {}, {}, {}, {{true, 0, 6}}});
}

TEST(TransfersBound, StopsAtItsLimitWithAProof) {
  Rng rng(35);
  const Instance instance =
      graphs::with_random_transfers(rng, graphs::fork_join(4, 16, {3, 2}, 1), 0.5);
  SHOW_ON_FAILURE(instance);
  const proof::WindowsCertificate windows =
      proof::windows_bound(instance, hlp::hlp(instance).certificate).certificate;
  bool complete = false;
  ASSERT_GT(windows.refutation.makespan, 0);  // so that there is something to check after the limit
  for (int micros = 0; micros < 10'000'000 && !complete; micros = 3 * micros + 300) {
    const ScopedTimeLimit limit(1e-6 * micros);
    const proof::TransfersBound bound = proof::transfers_bound(instance, windows);
    complete = bound.complete;
    EXPECT_TRUE(micros > 0 || !complete);
    const ScopedDeadlineExtension grace;
    EXPECT_EQ(check::certified_bound(instance, bound.certificate), bound.value);
  }
  EXPECT_TRUE(complete);
}

// LP* with transfers: the interior point method against GLPK, and what its prices prove.
TEST(TransfersRelaxation, IsThatOfGlpk) {
  Rng rng(36);
  for (int round = 0; round < 150; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.types = 1 + round % 4;
    options.tasks = 1 + static_cast<int>(rng.below(30));
    options.density = 0.3 * rng.uniform();
    options.integers = round % 5 == 0;
    const Instance instance =
        graphs::with_random_transfers(rng, graphs::random(rng, options), 2 * rng.uniform());
    const double value = proof::transfers_relaxation(instance, hlp::HlpMethod::glpk).value;
    const proof::TransfersRelaxation relaxation = proof::transfers_relaxation(instance);
    EXPECT_NEAR(relaxation.value, value, 2e-6 * value + 1e-8) << round;
    EXPECT_GE(value, hlp::hlp(instance).value * (1 - 1e-9));
    if (value <= 0) continue;
    const proof::TransfersCertificate proof{{hlp::hlp(instance).certificate, {}},
                                            relaxation.refutation};
    EXPECT_GE(check::certified_bound(instance, proof), relaxation.refutation.makespan) << round;
    EXPECT_NEAR(relaxation.refutation.makespan, value, 2e-6 * value) << round;
  }
}

}  // namespace
}  // namespace cosched::dags
