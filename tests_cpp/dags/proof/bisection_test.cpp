// Which T the searches ask about, against an oracle that refutes all below a number.
#include "cosched/dags/proof/bisection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cosched/dags/proof/geometric_steps.hpp"
#include "cosched/dags/proof/halving_steps.hpp"

namespace cosched::dags {
namespace {

struct Asked {
  double value;
  std::vector<double> makespans;
};

template <class Steps>
Asked ask(Steps steps, double truth, double reach = 0) {
  Asked asked{steps.value(), {}};
  while (const std::optional<proof::MakespanGuess> question = steps.next_guess()) {
    asked.makespans.push_back(question->makespan);
    steps.update(question->makespan < truth,
                 question->depth == proof::RefuterDepth::full ? reach : 0);
    asked.value = steps.value();
    if (asked.makespans.size() > 1000) break;
  }
  return asked;
}

TEST(HalvingSteps, EndWithinThePrecision) {
  for (const double truth : {1.001, 1.7, 40.0}) {
    for (const double upper : {41.0, kInfinity}) {
      const Asked asked = ask(proof::HalvingSteps(1, upper, 0, 1e-4), truth);
      EXPECT_LE(asked.value, truth);
      EXPECT_GE(asked.value, truth * (1 - 1.1e-4));
      EXPECT_LT(asked.makespans.size(), 100U);
    }
  }
}

TEST(HalvingSteps, AskAboutMultiplesOfTheGrainOnly) {
  const Asked asked = ask(proof::HalvingSteps(10, 30, 0.5, 1e-4), 17.2);
  EXPECT_EQ(asked.makespans.front(), 29.5);
  for (const double makespan : asked.makespans) EXPECT_EQ(std::fmod(makespan, 0.5), 0);
  EXPECT_EQ(asked.value, 17.5);  // the least multiple above what is refuted
}

TEST(HalvingSteps, AskNothingWhereTheBoundMeetsTheMakespan) {
  EXPECT_TRUE(ask(proof::HalvingSteps(5, 5, 0, 1e-4), 5).makespans.empty());
  EXPECT_EQ(ask(proof::HalvingSteps(4, 5, 0, 1e-4), 5).makespans.size(), 1U);
}

TEST(GeometricSteps, AskAboutPowersQuicklyFirst) {
  for (const double reach : {0.0, 39.0}) {
    const Asked asked = ask(proof::GeometricSteps(2, 2, 41, 1e-3), 40, reach);
    EXPECT_LE(asked.value, 40);
    EXPECT_GE(asked.value, 40 / 1.0011);
    for (std::size_t k = 1; k < asked.makespans.size(); ++k) {
      const double power = std::log(asked.makespans[k] / 2) / std::log1p(1e-3);
      EXPECT_NEAR(power, std::round(power), 1e-6);
    }
    EXPECT_LT(asked.makespans.size(), 100U);
  }
}

// A programme whose optimum is the T in question says nothing of the next one.
TEST(GeometricSteps, DoNotCreepAfterAProgrammeThatComesToItsOwnMakespan) {
  proof::GeometricSteps steps(2, 2, kInfinity, 1e-4);
  int full = 0;
  while (const std::optional<proof::MakespanGuess> question = steps.next_guess()) {
    full += question->depth == proof::RefuterDepth::full;
    steps.update(question->makespan < 4,
                 question->depth == proof::RefuterDepth::full ? question->makespan : 0);
  }
  EXPECT_GE(steps.value(), 4 / 1.00011);
  EXPECT_LT(full, 12);
}

}  // namespace
}  // namespace cosched::dags
