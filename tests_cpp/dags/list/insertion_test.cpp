// Insertion into the idle times of given types.
#include "cosched/dags/list/insertion.hpp"

#include <gtest/gtest.h>

#include "cosched/dags/list/ranks.hpp"
#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(InsertionSchedule, KeepsToTheTypesOfTheAllocation) {
  Rng rng(86);
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = graphs::random_with_transfers(rng, round);
    SHOW_ON_FAILURE(instance);
    const Allocation allocation = plain::random_allocation(instance, rng);
    EXPECT_EQ(list::insertion_schedule(instance, list::heft_ranks(instance), &allocation).kind,
              allocation);
  }
}

}  // namespace
}  // namespace cosched::dags
