#include "cosched/moldable/list/standard.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(Gang, IsOptimalForLinearSpeedUp) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    std::vector<Downey> profiles;
    std::vector<double> weights;
    for (int i = 0; i < 4; ++i) {
      profiles.push_back({0.1 + rng.uniform(), 100, 0});
      weights.push_back(static_cast<double>(rng.between(1, 9)));
    }
    const Instance instance(profiles, weights, {}, 3);
    SHOW_ON_FAILURE(instance);
    EXPECT_NEAR(weighted_completion(instance, list::gang(instance)),
                exhaustive_optima(instance).minsum, 1e-9);
  }
}

}  // namespace
}  // namespace cosched::moldable
