// Proofs of LP*: what a certificate proves, and broken ones.
#include "cosched/dags/check/bounds.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
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

}  // namespace
}  // namespace cosched::dags
