#include "cosched/slurm/select/reservations.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

constexpr int kFourNodes = 4;

Scenario with(std::vector<Reservation> all, int reservation = -1) {
  Machine machine = plain_machine(kFourNodes);
  machine.partitions.push_back({nodes_from(2, 4, kFourNodes), 1, kNever, 0});
  Job job = plain_job(0, 1, 100);
  job.conditions.reservation = reservation;
  return Scenario(machine, {job}, to_settings({}), std::move(all));
}

struct Remaining {
  bool can_run;
  Second from;
  Nodes nodes;
  bool operator==(const Remaining& other) const {
    return can_run == other.can_run && from == other.from && nodes == other.nodes;
  }
};

Remaining remaining_nodes(const Scenario& scenario, Second from, double now = 0, bool move = true,
                          int part = 0) {
  NodeBits nodes = scenario.partition(QueueEntry{0, part}).nodes;
  const auto remaining = Reservations(scenario).remove_reserved({0, part}, from, move, now, nodes);
  return {remaining.can_run, remaining.earliest, remaining.can_run ? nodes.to_list() : Nodes{}};
}

TEST(SlurmReservations, NodesAreKeptFromJobsThatWouldMeetThem) {
  const Scenario scenario =
      with({{.created_at = -10, .begin = 300, .end = 400, .nodes = nodes_from(0, 2, kFourNodes)}});
  EXPECT_EQ(remaining_nodes(scenario, 200),
            (Remaining{true, 200, {0, 1, 2, 3}}));  // ends when it begins
  EXPECT_EQ(remaining_nodes(scenario, 201), (Remaining{true, 201, {2, 3}}));
  EXPECT_EQ(remaining_nodes(scenario, 399), (Remaining{true, 399, {2, 3}}));
  EXPECT_EQ(remaining_nodes(scenario, 400), (Remaining{true, 400, {0, 1, 2, 3}}));
  EXPECT_EQ(remaining_nodes(scenario, 300, -11),
            (Remaining{true, 300, {0, 1, 2, 3}}));  // not made yet
  EXPECT_EQ(remaining_nodes(scenario, 399, 400), (Remaining{true, 399, {0, 1, 2, 3}}));  // over
}

TEST(SlurmReservations, MaintenanceOfThePartitionMovesTheJob) {
  const Scenario scenario = with({{.created_at = -10,
                                   .begin = 300,
                                   .end = 400,
                                   .nodes = nodes_from(1, 4, kFourNodes),
                                   .is_maintenance = true}});
  EXPECT_EQ(remaining_nodes(scenario, 250, 0, true, 1), (Remaining{true, 400, {2, 3}}));
  EXPECT_FALSE(remaining_nodes(scenario, 250, 0, false, 1).can_run);
  EXPECT_EQ(remaining_nodes(scenario, 250),
            (Remaining{true, 250, {0}}));  // it is a part of this one
  const Scenario every = with({{.created_at = -10,
                                .begin = 300,
                                .end = 400,
                                .nodes = nodes_from(0, 4, kFourNodes),
                                .has_all_nodes = true},
                               {.created_at = -10,
                                .begin = 400,
                                .end = 500,
                                .nodes = nodes_from(0, 4, kFourNodes),
                                .is_maintenance = true}});
  EXPECT_EQ(remaining_nodes(every, 250), (Remaining{true, 500, {0, 1, 2, 3}}));
}

TEST(SlurmReservations, AJobOfAReservationHasItsNodesWhileItIsThere) {
  const Scenario scenario =
      with({{.created_at = -10, .begin = 300, .end = 400, .nodes = nodes_from(0, 2, kFourNodes)},
            {.created_at = -10,
             .begin = 350,
             .end = 500,
             .nodes = nodes_from(1, 3, kFourNodes),
             .is_maintenance = true}},
           0);
  EXPECT_FALSE(remaining_nodes(scenario, 299).can_run);
  EXPECT_EQ(remaining_nodes(scenario, 300),
            (Remaining{true, 300, {0}}));  // its limit meets the other
  EXPECT_TRUE(remaining_nodes(scenario, 400).can_run);
  EXPECT_FALSE(remaining_nodes(scenario, 401).can_run);
  EXPECT_TRUE(Reservations(scenario).is_in_existing(0, 399));
  EXPECT_FALSE(Reservations(scenario).is_in_existing(0, 400));
}

TEST(SlurmReservations, TheNextEndIsRoundedUp) {
  const Scenario scenario =
      with({{.created_at = -10, .begin = 300, .end = 400, .nodes = nodes_from(0, 2, kFourNodes)},
            {.created_at = -10, .begin = 300, .end = 350, .nodes = nodes_from(0, 2, kFourNodes)}});
  const Reservations all(scenario);
  EXPECT_EQ(all.next_end(0, 60, 0, 0), 360);
  EXPECT_EQ(all.next_end(0, 60, 10, 0), 350);  // a multiple on this Unix clock
  EXPECT_EQ(all.next_end(351, 60, 0, 0), 420);
  EXPECT_EQ(all.next_end(401, 60, 0, 0), 0);
  EXPECT_TRUE(all.has_existing(399));
  EXPECT_FALSE(all.has_existing(400));
}

}  // namespace
}  // namespace cosched::slurm
