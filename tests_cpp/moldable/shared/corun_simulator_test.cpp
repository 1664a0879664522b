#include "cosched/moldable/shared/corun_simulator.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::shared {
namespace {

// 0.1 + 0.2 - 0.1 - 0.2 is not 0: what rounding left is forgotten where nobody runs, and only
// there.
TEST(CorunSimulator, WhatIsUsedIsWhoRuns) {
  const Instance instance =
      Instance(Times(Table{{4}, {8}, {4}}), {1, 1, 1}, {}, 3)
          .with_sharing(std::make_shared<const Sharing>(
              3,
              std::vector<Resource>{
                  {.name = "memory", .capacity = 0.3, .need = {{0.1}, {0.2}, {0.2}}}},
              std::nullopt, std::nullopt));
  const list::Decoder decoder(instance);
  CorunSimulator machine(instance, decoder);
  for (int job = 0; job < 3; ++job) machine.select_count(job, 0);
  CorunSimulator::MachineState state = machine.idle_state();
  machine.start(state, 0);
  EXPECT_TRUE(machine.has_room_for(state, 1));
  machine.start(state, 1);
  EXPECT_FALSE(machine.has_room_for(state, 2));
  std::vector<CorunSimulator::JobEnd> ended;
  ASSERT_TRUE(machine.advance_to_next_end(state, kInfinity, ended));
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(state.now, 4);
  EXPECT_FALSE(machine.has_room_for(state, 2));  // beside the second
  ASSERT_TRUE(machine.advance_to_next_end(state, kInfinity, ended));
  EXPECT_EQ(state.now, 8);
  EXPECT_EQ(state.free_procs, 3);
  EXPECT_EQ(state.used_resources[0], 0);
  EXPECT_TRUE(machine.has_room_for(state, 2));
  EXPECT_THROW(machine.advance_to_next_end(state, kInfinity, ended), SolverError);  // nobody runs
}

// Three jobs from 0 s on, by slow-downs of each rule, with and without a bandwidth.
TEST(CorunSimulator, EndsAreThoseOfTheProgressiveLaw) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    Table times(3, 1);
    Matrix<double> table(3, 3), demand(3, 1);
    for (int i = 0; i < 3; ++i) {
      times(i, 0) = 1 + 9 * rng.uniform();
      demand(i, 0) = 1 + rng.uniform();
      for (int j = 0; j < 3; ++j) table(i, j) = 1 + rng.uniform();
    }
    std::optional<Bandwidth> bandwidth;
    if (seed % 2 == 0) bandwidth = Bandwidth{.demand = demand, .capacity = 2, .stall = {0.5, 1, 0}};
    const Slowdowns slowdowns{.table = table, .rule = static_cast<SlowdownRule>(seed % 3)};
    const auto sharing =
        std::make_shared<const Sharing>(3, std::vector<Resource>{}, slowdowns, bandwidth);
    const Instance instance = Instance(Times(times), {1, 1, 1}, {}, 3).with_sharing(sharing);
    SHOW_ON_FAILURE(instance);
    const list::Decoder decoder(instance);
    CorunSimulator machine(instance, decoder);
    CorunSimulator::MachineState state = machine.idle_state();
    std::vector<cosched::RunningTask> runs;
    for (int i = 0; i < 3; ++i) {
      machine.select_count(i, 0);
      machine.start(state, i);
      runs.push_back({i, 1, times(i, 0)});
    }
    std::vector<CorunSimulator::JobEnd> ended;
    for (int k = 0; k < 3 && state.running_count > 0; ++k)
      ASSERT_TRUE(machine.advance_to_next_end(state, kInfinity, ended));
    ASSERT_EQ(ended.size(), 3U);
    const std::vector<double> ends = sharing->ends(runs);
    for (const CorunSimulator::JobEnd& job_end : ended)
      EXPECT_TRUE(close(job_end.end, ends[job_end.job])) << seed;
  }
}

}  // namespace
}  // namespace cosched::moldable::shared
