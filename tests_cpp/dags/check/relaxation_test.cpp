// What is checked from scratch: proofs of LP*, transfers and memories.
#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/check/transfer_seconds.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

TEST(Certificate, BrokenOnesAreFound) {
  const Instance instance = graphs::cholesky(5, {4, 1}, 0.1, 1);
  const hlp::HlpSolution solution = hlp::hlp(instance);
  ASSERT_GT(solution.flows, 0);
  hlp::HlpCertificate weights = solution.certificate;
  weights.weights[0] += 0.1;
  EXPECT_THROW(check::certified_bound(instance, weights), SolverError);
  hlp::HlpCertificate flow = solution.certificate;
  for (double& amount : flow.task_flow) amount *= 1.5;
  EXPECT_THROW(check::certified_bound(instance, flow), SolverError);
  hlp::HlpCertificate leak = solution.certificate;
  ASSERT_FALSE(leak.edge_flow.empty());
  leak.edge_flow.front().amount += 0.01;
  EXPECT_THROW(check::certified_bound(instance, leak), SolverError);
  hlp::HlpCertificate edge = solution.certificate;
  edge.edge_flow.push_back({instance.tasks() - 1, 0, 0});
  EXPECT_THROW(check::certified_bound(instance, edge), SolverError);
}

// Three tasks of one type with two units: 0 before 1, and 2 alone.
Instance small_graph() { return Instance(Table{{3}, {4}, {5}}, TaskGraph(3, {{0, 1}}), {2}); }

TEST(Certificate, TheBoundIsWhatTheWeightsAndTheFlowSay) {
  const Instance instance = small_graph();
  EXPECT_DOUBLE_EQ(check::certified_bound(instance, hlp::HlpCertificate{{1, 0}, {0, 0, 0}, {}}), 6);
  EXPECT_DOUBLE_EQ(
      check::certified_bound(instance, hlp::HlpCertificate{{0, 1}, {1, 1, 0}, {{0, 1, 1}}}), 7);
  EXPECT_DOUBLE_EQ(check::certified_bound(
                       instance, hlp::HlpCertificate{{0.5, 0.5}, {0.5, 0.5, 0}, {{0, 1, 0.5}}}),
                   6.5);
}

TEST(Certificate, FlowIsConservedAtEachEndOfAnEdge) {
  const Instance instance = small_graph();
  const auto refuses = [&](const hlp::HlpCertificate& certificate) {
    EXPECT_THROW(check::certified_bound(instance, certificate), SolverError);
  };
  refuses({{0, 1}, {1, 0.5, 0}, {{0, 1, 1}}});  // more comes in than goes through task 1
  refuses({{0, 1}, {0.5, 1, 0}, {{0, 1, 1}}});  // more goes out of task 0 than through it
  refuses({{0, 1}, {1, 1, 0}, {}});             // both begin: two units of flow, a weight of one
  refuses({{0.5, 0.6}, {0, 0, 0}, {}});
}

TEST(TransferSeconds, AreLatencyAndBytesByBandwidthBetweenMemories) {
  const Links links{Table{{10, 5}, {2, 1}}, Table{{0.5, 1}, {2, 3}}, {}};
  const auto seconds = check::transfer_seconds({2, 2}, {0, 20}, links);
  EXPECT_EQ(seconds(0, 0, 0, 1, 0), 0);  // no bytes
  EXPECT_EQ(seconds(1, 0, 0, 0, 1), 0);  // the units of the host share a memory
  EXPECT_EQ(seconds(1, 0, 0, 1, 0), 1 + 20 / 5.0);
  EXPECT_EQ(seconds(1, 1, 0, 0, 0), 2 + 20 / 2.0);
  EXPECT_EQ(seconds(1, 1, 0, 1, 1), 3 + 20 / 1.0);
  EXPECT_EQ(seconds(1, 1, 0, 1, 0), 0);
}

TEST(ValidateMemory, DataIsHeldUntilItsReaderEnds) {
  // Task 0 on the host, then task 1 on a unit with a memory of its own: 20 bytes move in 2 s.
  const auto instance_with = [](double capacity) {
    Links links{Table(2, 2, 10), Table(2, 2), {}};
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

}  // namespace
}  // namespace cosched::dags
