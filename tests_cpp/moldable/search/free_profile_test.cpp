#include "cosched/moldable/search/free_profile.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/starts.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(FreeProfile, EarliestFitByHand) {
  search::FreeProfile profile(4);
  profile.occupy(0, 2, {3});
  profile.occupy(3, 5, {2});
  EXPECT_EQ(profile.earliest_start({1}, 10, 0), 0);
  EXPECT_EQ(profile.earliest_start({2}, 1, 0), 2);
  EXPECT_EQ(profile.earliest_start({3}, 1, 0), 2);
  EXPECT_EQ(profile.earliest_start({3}, 1.5, 0), 5);
  EXPECT_EQ(profile.earliest_start({2}, 1, 2.5), 2.5);
  profile.release(0, 2, {3});
  EXPECT_EQ(profile.earliest_start({4}, 3, 0), 0);
  EXPECT_EQ(profile.earliest_start({4}, 3.5, 0), 5);
}

TEST(FreeProfile, TheEarliestFitOfWhatNeedsAResource) {
  search::FreeProfile profile(4, 2);
  const double much[] = {0.75, 0.0}, little[] = {0.25, 0.5}, half[] = {0.5, 0.0};
  profile.occupy(0, 2, {1, much});
  EXPECT_EQ(profile.earliest_start({1, little}, 5, 0), 0);
  profile.occupy(0, 5, {1, little});
  EXPECT_EQ(profile.earliest_start({1, half}, 2, 0), 2);
  EXPECT_EQ(profile.earliest_start({1, half}, 2, 3), 3);
  EXPECT_EQ(profile.earliest_start({3, half}, 2, 0), 2);
  EXPECT_EQ(profile.earliest_start({4, half}, 2, 0), 5);
  profile.release(0, 5, {1, little});
  EXPECT_EQ(profile.earliest_start({4, half}, 2, 0), 2);
}

}  // namespace
}  // namespace cosched::moldable
