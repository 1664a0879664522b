// Bounds without a linear programme.
#include "cosched/dags/hlp/bounds.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(Bounds, AreaAndCriticalPathAreBelowTheLp) {
  Rng rng(15);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 1 + round % 3;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const double value = hlp::hlp(instance).value * (1 + 1e-9);
    EXPECT_LE(hlp::area_bound(instance), value);
    EXPECT_LE(hlp::critical_path_bound(instance), value);
  }
}

}  // namespace
}  // namespace cosched::dags
