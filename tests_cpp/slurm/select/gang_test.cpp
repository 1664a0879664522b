#include "cosched/slurm/select/gang.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Partitions of tier 1, 2, 2 and 3, and six jobs.
const Scenario tiers = suspending(tiers_of({8}, {1, 2, 2, 3}), std::vector<Job>(6, shared_job(1)));

using Turns = std::vector<std::pair<int, bool>>;
Turns turns(const std::vector<Gang::GangSwitch>& switches) {
  Turns pairs;
  for (const Gang::GangSwitch& gang_switch : switches)
    pairs.emplace_back(gang_switch.job, gang_switch.is_suspended);
  return pairs;
}
NodeBits cores(int first, int last) { return nodes_from(first, last, 8); }

TEST(SlurmGang, WhoHasACoreOfAHigherTierStandsStill) {
  Gang gang(tiers);
  EXPECT_EQ(turns(gang.start({0, 0}, cores(0, 4))), Turns{});
  EXPECT_EQ(turns(gang.start({1, 0}, cores(4, 6))), Turns{});
  EXPECT_EQ(turns(gang.start({2, 1}, cores(3, 4))), (Turns{{0, true}}));
  EXPECT_EQ(turns(gang.start({3, 1}, cores(6, 8))), Turns{});
  EXPECT_EQ(turns(gang.end(3)), Turns{});
  EXPECT_EQ(turns(gang.end(2)), (Turns{{0, false}}));
}

TEST(SlurmGang, UntilTheLastOfThemIsOver) {
  Gang gang(tiers);
  gang.start({0, 0}, cores(0, 4));
  gang.start({1, 1}, cores(0, 1));
  EXPECT_EQ(turns(gang.start({2, 3}, cores(1, 2))), Turns{});
  EXPECT_EQ(turns(gang.end(1)), Turns{});
  EXPECT_EQ(turns(gang.end(2)), (Turns{{0, false}}));
}

TEST(SlurmGang, WhoStandsStillIsInNobodysWay) {
  Gang gang(tiers);
  gang.start({0, 0}, cores(0, 2));
  EXPECT_EQ(turns(gang.start({1, 1}, cores(1, 4))), (Turns{{0, true}}));
  EXPECT_EQ(turns(gang.start({2, 3}, cores(3, 4))), (Turns{{1, true}, {0, false}}));
  EXPECT_EQ(turns(gang.end(2)), (Turns{{1, false}, {0, true}}));
}

TEST(SlurmGang, NotForOneOfItsTier) {
  Gang gang(tiers);
  gang.start({0, 1}, cores(0, 4));
  EXPECT_EQ(turns(gang.start({1, 2}, cores(0, 4))), Turns{});
  EXPECT_EQ(turns(gang.end(5)), Turns{});
}

}  // namespace
}  // namespace cosched::slurm
