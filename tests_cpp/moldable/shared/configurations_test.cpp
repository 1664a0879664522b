#include "cosched/moldable/shared/configurations.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/shared/area.hpp"

namespace cosched::moldable::shared {
namespace {

Instance threes_that_slow() {
  const Matrix<double> table{{1, 3, 3}, {3, 1, 3}, {3, 3, 1}};
  return Instance(Times(Table{{4}, {4}, {4}}), {1, 1, 1}, {}, 3)
      .with(std::make_shared<const Sharing>(3, std::vector<Resource>{}, Slowdowns{table, {}},
                                            std::nullopt));
}

TEST(Configurations, ConfigurationsKnowWhatIsNotWorthRunningTogether) {
  const Instance instance = threes_that_slow();
  const double bound = configuration_bound(instance).value;
  EXPECT_LE(bound, 12);
  EXPECT_GE(bound, 12 * (1 - 3e-3));
  EXPECT_LE(shared::area_bound(instance), bound);
}

}  // namespace
}  // namespace cosched::moldable::shared
