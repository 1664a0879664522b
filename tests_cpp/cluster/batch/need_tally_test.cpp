#include "cosched/cluster/batch/need_tally.hpp"

#include <gtest/gtest.h>

#include "support/site_instances.hpp"

namespace cosched::cluster::batch {
namespace {

TEST(NeedTally, AgreesWithPlacementAsNodesChange) {
  for (const int parts : {0, 2}) {
    const Site site = testing::three_node_site({.tasks = 9, .parts = parts, .memory = 120});
    FreeAmounts free = site.capacities();
    NeedTally tally(site, site.need(0), free);
    for (const ResourceAmounts& after :
         {ResourceAmounts{.memory = 100, .cores = 1}, ResourceAmounts{.memory = 10, .cores = 4},
          ResourceAmounts{.memory = 100, .cores = 4}}) {
      const ResourceAmounts before = free[0];
      free[0] = after;
      tally.update(0, before, after);
      EXPECT_EQ(tally.has_room(), site.has_room_for(site.need(0), free))
          << parts << " " << after.cores;
    }
  }
}

}  // namespace
}  // namespace cosched::cluster::batch
