#include "cosched/moldable/shared/side_by_side.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/numeric.hpp"

namespace cosched::moldable::shared {
namespace {

// 0.1 + 0.2 - 0.1 - 0.2 is not 0: what rounding left is forgotten where nobody runs, and only there.
TEST(SideBySide, WhatIsUsedIsWhoRuns) {
  const Instance instance =
      Instance(Times(Table{{4}, {8}, {4}}), {1, 1, 1}, {}, 3)
          .with(std::make_shared<const Sharing>(
              3, std::vector<Resource>{{"memory", 0.3, {{0.1}, {0.2}, {0.2}}}}, std::nullopt,
              std::nullopt));
  const list::Decoder decoder(instance);
  SideBySide machine(instance, decoder);
  for (int job = 0; job < 3; ++job) machine.take(job, 0);
  SideBySide::State state = machine.empty();
  machine.start(state, 0);
  EXPECT_TRUE(machine.fits(state, 1));
  machine.start(state, 1);
  EXPECT_FALSE(machine.fits(state, 2));
  std::vector<SideBySide::Ended> ended;
  ASSERT_TRUE(machine.finish(state, kInfinity, ended));
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(state.now, 4);
  EXPECT_FALSE(machine.fits(state, 2));  // beside the second
  ASSERT_TRUE(machine.finish(state, kInfinity, ended));
  EXPECT_EQ(state.now, 8);
  EXPECT_EQ(state.free, 3);
  EXPECT_EQ(state.used[0], 0);
  EXPECT_TRUE(machine.fits(state, 2));
  EXPECT_THROW(machine.finish(state, kInfinity, ended), SolverError);  // nobody runs
}

}  // namespace
}  // namespace cosched::moldable::shared
