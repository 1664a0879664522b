#include "cosched/moldable/shared/beam.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/check/validate.hpp"

namespace cosched::moldable::shared {
namespace {

TEST(Beam, WaitsWhereThatIsWorthMore) {
  const Matrix<double> table{{1, 3, 3}, {3, 1, 3}, {3, 3, 1}};
  const Instance instance =
      Instance(Times(Table{{4}, {4}, {4}}), {1, 1, 1}, {}, 3)
          .with_sharing(std::make_shared<const Sharing>(3, std::vector<Resource>{},
                                                        Slowdowns{table, {}}, std::nullopt));
  const list::Decoder decoder(instance);
  const std::vector<double> prices{4, 4, 4};
  std::int64_t operations = 10'000;
  const auto found_placement = beam_search(instance, decoder, prices, {}, operations);
  ASSERT_TRUE(found_placement);
  EXPECT_EQ(makespan(*found_placement), 12);
  EXPECT_GT(operations, 0);
  check::validate(instance, to_schedule(instance, *found_placement));
  operations = 0;
  EXPECT_FALSE(beam_search(instance, decoder, prices, {}, operations));
  EXPECT_LT(operations, 0);
}

}  // namespace
}  // namespace cosched::moldable::shared
