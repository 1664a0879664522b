// The limits of memories, checked from scratch.
#include "cosched/dags/check/validate_memory.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"

namespace cosched::dags {
namespace {

TEST(ValidateMemory, DataIsHeldUntilItsReaderEnds) {
  // Task 0 on the host, then task 1 on a unit with a memory of its own: 20 bytes move in 2 s.
  const auto instance_with = [](double capacity) {
    Links links{.bandwidth = Table(2, 2, 10), .latency = Table(2, 2), .memories = {}};
    links.capacity = {kInfinity, capacity};
    const TaskGraph graph(2, {{0, 1}});
    const Transfers transfers(graph, {1, 1}, {{0, 1}}, {20}, links);
    return Instance(Table{{3, 3}, {4, 4}}, graph, {1, 1}, transfers);
  };
  Schedule schedule;
  schedule.place(0, 0, {0}, 0, 3);
  schedule.place(1, 1, {0}, 5, 9);
  EXPECT_NO_THROW(check::validate_memory(schedule, instance_with(20)));
  EXPECT_THROW(check::validate_memory(schedule, instance_with(19)), InvalidSchedule);
}

// Each of two readers on a unit takes 12 bytes, which its memory holds from the begin of a transfer
// of 1.2 s on.
TEST(ValidateMemory, DataIsHeldFromTheBeginOfItsTransfer) {
  Links links{.bandwidth = Table(2, 2, 10), .latency = Table(2, 2), .memories = {}};
  links.capacity = {kInfinity, 20};
  const std::vector<Edge> edges{{0, 1}, {2, 3}};
  const TaskGraph graph(4, edges);
  const Instance instance(Table{{3, 3}, {4, 4}, {3, 3}, {4, 4}}, graph, {1, 1},
                          Transfers(graph, {1, 1}, edges, {12, 12}, links));
  const auto schedule_with = [](double second_start) {
    Schedule schedule;
    schedule.place(0, 0, {0}, 0, 3);
    schedule.place(1, 1, {0}, 5, 9);
    schedule.place(2, 0, {0}, 3, 6);
    schedule.place(3, 1, {0}, second_start, second_start + 4);
    return schedule;
  };
  EXPECT_NO_THROW(check::validate_memory(schedule_with(10.5), instance));
  EXPECT_THROW(check::validate_memory(schedule_with(9.5), instance), InvalidSchedule);
}

}  // namespace
}  // namespace cosched::dags
