// Bounds without a linear programme.
#include "cosched/dags/hlp/bounds.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "dags/graphs.hpp"
#include "dags/transfer_graphs.hpp"
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

// Tasks of 1, 2 and 4 s; each edge's bytes lie in the memory from the begin of its first task to the
// end of its second: 6 x (1 + 2) + 2 x (1 + 2 + 4) + 3 x (2 + 4) byte seconds, 10 bytes.
TEST(Bounds, MemoryHoldsTheDataOfEachEdgeForItsLongestPath) {
  const Instance chain(Table{{1}, {2}, {4}}, TaskGraph(3, {{0, 1}, {0, 2}, {1, 2}}), {1});
  const Links links{
      .bandwidth = Table{{kInfinity}}, .latency = Table{{0}}, .memories = {}, .capacity = {10}};
  const Instance limited = graphs::with_transfers(chain, {6, 2, 3}, links);
  EXPECT_NEAR(hlp::memory_bound(limited), 50.0 / 10, 1e-6);
  EXPECT_EQ(hlp::memory_bound(chain), 0);
}

}  // namespace
}  // namespace cosched::dags
