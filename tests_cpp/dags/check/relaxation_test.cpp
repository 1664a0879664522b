// Damaged proofs of LP* are refused.
#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

TEST(Certificate, BrokenOnesAreFound) {
  const Instance instance = graphs::cholesky(5, {4, 1}, 0.1, 1);
  const hlp::Solution solution = hlp::hlp(instance);
  ASSERT_GT(solution.flows, 0);
  hlp::Certificate weights = solution.certificate;
  weights.weights[0] += 0.1;
  EXPECT_THROW(check::certified_bound(instance, weights), SolverError);
  hlp::Certificate flow = solution.certificate;
  for (double& amount : flow.task_flow) amount *= 1.5;
  EXPECT_THROW(check::certified_bound(instance, flow), SolverError);
  hlp::Certificate leak = solution.certificate;
  ASSERT_FALSE(leak.edge_flow.empty());
  leak.edge_flow.front().amount += 0.01;
  EXPECT_THROW(check::certified_bound(instance, leak), SolverError);
  hlp::Certificate edge = solution.certificate;
  edge.edge_flow.push_back({instance.tasks() - 1, 0, 0});
  EXPECT_THROW(check::certified_bound(instance, edge), SolverError);
}

}  // namespace
}  // namespace cosched::dags
