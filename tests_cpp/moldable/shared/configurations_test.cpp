#include "cosched/moldable/shared/configurations.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::shared {
namespace {

Instance threes_that_slow() {
  const Matrix<double> table{{1, 3, 3}, {3, 1, 3}, {3, 3, 1}};
  return Instance(Times(Table{{4}, {4}, {4}}), {1, 1, 1}, {}, 3)
      .with_sharing(std::make_shared<const Sharing>(3, std::vector<Resource>{},
                                                    Slowdowns{table, {}}, std::nullopt));
}

TEST(Configurations, ConfigurationsKnowWhatIsNotWorthRunningTogether) {
  const Instance instance = threes_that_slow();
  const double bound = configuration_bound(instance).value;
  EXPECT_LE(bound, 12);
  EXPECT_GE(bound, 12 * (1 - 3e-3));
  EXPECT_LE(bounds::area_bound(instance), bound);
}

// Five jobs of times from milliseconds to hours, needs by count, slow-downs.
Instance of_unit(std::uint64_t seed, double unit) {
  Rng rng(seed);
  Table times(5, 3);
  Matrix<double> table(5, 5), needs(5, 3);
  for (int i = 0; i < 5; ++i) {
    const double work = 1 + 9 * rng.uniform();
    for (int q = 1; q <= 3; ++q) {
      times(i, q - 1) = unit * work * (0.2 + 0.8 / q);
      needs(i, q - 1) = 1 + 3 * rng.uniform();
    }
    for (int j = 0; j < 5; ++j) table(i, j) = 1 + rng.uniform();
  }
  return Instance(Times(times), std::vector<double>(5, 1.0), {}, 3)
      .with_sharing(std::make_shared<const Sharing>(
          5, std::vector<Resource>{{.name = "memory", .capacity = 6, .need = needs}},
          Slowdowns{table, {}}, std::nullopt));
}

TEST(Configurations, NoScheduleIsShorterInAnyUnitOfTime) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SHOW_ON_FAILURE(seed);
    const double once = configuration_bound(of_unit(seed, 1)).value;
    for (const double unit : {1e-3, 1.0, 1e4}) {
      const Instance instance = of_unit(seed, unit);
      SHOW_ON_FAILURE(instance);
      const double bound = configuration_bound(instance).value;
      search::SearchOptions options;
      options.work = 2000;
      const Placement placement = search::local_search(instance, options).placement;
      check::validate(instance, to_schedule(instance, placement));
      EXPECT_LE(bound, makespan(placement) * (1 + 1e-9)) << seed << " " << unit;
      EXPECT_GE(bound, bounds::area_bound(instance) * (1 - 1e-12));
      EXPECT_NEAR(bound / unit, once, 5e-3 * once);
      EXPECT_GE(bound, 0.7 * makespan(placement));
    }
  }
}

}  // namespace
}  // namespace cosched::moldable::shared
