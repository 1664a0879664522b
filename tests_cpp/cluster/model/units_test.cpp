#include "cosched/cluster/model/units.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster {
namespace {

TEST(Units, SlotsAreTasksThatFitIntoTheFreeMemory) {
  EXPECT_EQ(slots(memory_units(0.25), 0), 4);
  EXPECT_EQ(slots(memory_units(0.25), memory_units(0.5)), 2);
  EXPECT_EQ(slots(memory_units(0.25), memory_units(0.8)), 0);
  EXPECT_EQ(slots(memory_units(0.3), memory_units(0.1)), 3);
}

}  // namespace
}  // namespace cosched::cluster
