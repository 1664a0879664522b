#include "cosched/cluster/dfrs/average_yields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cosched/cluster/dfrs/max_min_yields.hpp"
#include "cosched/lp/glpk.hpp"
#include "support/mapped_jobs.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::dfrs {
namespace {

using testing::expect_feasible;
using testing::MappedJobs;
using testing::random_mapped_jobs;

// A column for the yield of each job, a row for the CPU of each node.
lp::Model node_model(const MappedJobs& jobs, const std::vector<double>& lower) {
  lp::Model model;
  for (std::size_t j = 0; j < jobs.cpu.size(); ++j) model.add_column(0, lower[j], 1);
  for (int node = 0; node < jobs.nodes; ++node) model.add_row(-kInfinity, 1);
  for (std::size_t j = 0; j < jobs.cpu.size(); ++j)
    for (int node = 0; node < jobs.nodes; ++node) {
      const auto count = std::count(jobs.nodes_of_job[j].begin(), jobs.nodes_of_job[j].end(), node);
      if (count) model.add_entry(node, static_cast<int>(j), count * jobs.cpu[j]);
    }
  return model;
}

TEST(AverageYields, EqualTheUndividedLp) {
  Rng rng(9);
  int binding_rounds = 0;
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const MappedJobs jobs = random_mapped_jobs(rng);
    std::vector<double> lower = base_yields(jobs.mapping()), weight(jobs.cpu.size(), 1.0);
    if (round % 2)
      for (std::size_t j = 0; j < weight.size(); ++j) {
        weight[j] = 0.1 + rng.uniform();
        lower[j] *= rng.uniform();
      }
    const auto yield = best_average_yields(jobs.mapping(), lower, weight);
    expect_feasible(jobs, yield);
    for (std::size_t j = 0; j < lower.size(); ++j) EXPECT_GE(yield[j], lower[j] - 1e-9);
    lp::Model model = node_model(jobs, lower);
    for (std::size_t j = 0; j < weight.size(); ++j) model.cost[j] = -weight[j];
    // The base yields fill a node exactly: leave the LP room for its own rounding.
    for (double& upper : model.row_upper) upper += 1e-12;
    const auto solution = lp::solve_glpk(model);
    ASSERT_EQ(solution.status, lp::Status::optimal);
    const double value = std::inner_product(weight.begin(), weight.end(), yield.begin(), 0.0);
    EXPECT_NEAR(value, -solution.objective, 1e-7);
    binding_rounds += value < std::accumulate(weight.begin(), weight.end(), 0.0) - 1e-6;
  }
  EXPECT_GT(binding_rounds, 200);
}

}  // namespace
}  // namespace cosched::cluster::dfrs
