#include "cosched/moldable/bounds/areas.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/bounds/makespan.hpp"

namespace cosched::moldable::bounds {
namespace {

TEST(Areas, AreaHasARowAResource) {
  // Each alone needs more than half of the memory: one after the other.
  const Instance instance = Instance(Times(Table{{4}, {2}, {2}}), {1, 1, 1}, {}, 3)
                                .with(std::make_shared<const Sharing>(
                                    3, std::vector<Resource>{{"memory", 4, {{4}, {4}, {2}}}},
                                    std::nullopt, std::nullopt));
  EXPECT_NEAR(area_bound(instance), 7, 1e-9);
}

}  // namespace
}  // namespace cosched::moldable::bounds
