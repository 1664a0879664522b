#include "cosched/moldable/graph/allotment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "cosched/moldable/graph/list.hpp"
#include "support/moldable_graphs.hpp"

namespace cosched::moldable::graph {
namespace {

using testing::graph_of;

TEST(Rounded, ToTheSlowerCountFromTheThresholdOn) {
  const Instance instance = graph_of(Table{{4, 2.5}}, 2, {});
  const JobChoices choices(instance);
  EXPECT_EQ(round_durations(choices, {3.3}, 0.5, 2), (ChoiceNumbers{0}));
  EXPECT_EQ(round_durations(choices, {3.2}, 0.5, 2), (ChoiceNumbers{1}));
  EXPECT_EQ(round_durations(choices, {3.2}, 0.5, 1), (ChoiceNumbers{0}));  // cut
}

TEST(RoundWorkPath, RatiosAreThoseOfThePapersForManyProcessors) {
  // Speed-ups q^0.7: concave. Work that grows by 0.5 and by 0.1 by turns is not convex in the time.
  Table smooth(1, 60), uneven(1, 60);
  double work = 10;
  for (int q = 1; q <= 60; ++q) {
    smooth(0, q - 1) = 10 * std::pow(q, -0.7);
    uneven(0, q - 1) = work / q;
    work += q % 2 == 0 ? 0.1 : 0.5;
  }
  const Instance concave = graph_of(smooth, 60, {}), other = graph_of(uneven, 60, {});
  EXPECT_NEAR(round_work_path(concave, JobChoices(concave), work_and_path(concave)).ratio, 3.2919,
              0.1);
  const double ratio = round_work_path(other, JobChoices(other), work_and_path(other)).ratio;
  EXPECT_GT(ratio, 4.8);
  EXPECT_LT(ratio, 3 + std::sqrt(5.0));
}

TEST(AllotLocally, LeastWorkThatIsFastEnough) {
  // delta is 1 for mu = (3 - sqrt 5) / 2: only the least time will do; less for none.
  const Instance instance = graph_of(Table{{8, 4.4, 3.1, 2.5}, {1, 1, 1, 1}}, 4, {});
  const JobChoices choices(instance);
  const double work_share = (3 - std::sqrt(5.0)) / 2;
  EXPECT_EQ(choices[0][allot_locally(instance, choices, work_share).choice_numbers[0]].procs,
            2);  // cut to 2
  EXPECT_EQ(choices[0][allot_locally(instance, choices, 0.211).choice_numbers[0]].procs, 1);
  EXPECT_GT(allot_locally(instance, choices, 0.211).ratio, 1);
}

}  // namespace
}  // namespace cosched::moldable::graph
