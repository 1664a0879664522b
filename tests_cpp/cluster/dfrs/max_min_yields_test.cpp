#include "cosched/cluster/dfrs/max_min_yields.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/mapped_jobs.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::dfrs {
namespace {

using testing::expect_feasible;
using testing::MappedJobs;
using testing::node_use;
using testing::random_mapped_jobs;

TEST(MaxMinYields, BaseIsTheGreatestCommonYield) {
  const MappedJobs jobs{{{0, 1}, {1}, {2}}, {0.75, 0.75, 0.5}, 3};
  EXPECT_EQ(base_yields(jobs.mapping()), (std::vector<double>{1 / 1.5, 1 / 1.5, 1 / 1.5}));
  const MappedJobs light_jobs{{{0}, {1}}, {1, 1}, 2};
  EXPECT_EQ(base_yields(light_jobs.mapping()), (std::vector<double>{1, 1}));
}

TEST(MaxMinYields, OfAHandExample) {
  // Node 0: jobs 0, 1, 2 of need 1 -> 1/3 each; node 1: jobs 2 and 3 -> 3 gets 2/3.
  const MappedJobs jobs{{{0}, {0}, {0, 1}, {1}, {2}}, {1, 1, 1, 1, 1}, 3};
  const auto yield = max_min_yields(jobs.mapping());
  const std::vector<double> expected{1.0 / 3, 1.0 / 3, 1.0 / 3, 2.0 / 3, 1};
  for (int j = 0; j < 5; ++j) EXPECT_NEAR(yield[j], expected[j], 1e-12);
}

// Max-min characterisation: each job has yield 1, or a full node where no other job has more.
TEST(MaxMinYields, HasABottleneckForEachJob) {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const MappedJobs jobs = random_mapped_jobs(rng);
    const auto yield = max_min_yields(jobs.mapping());
    expect_feasible(jobs, yield);
    const auto cpu = node_use(jobs, yield);
    for (std::size_t j = 0; j < yield.size(); ++j) {
      bool is_stopped = yield[j] > 1 - 1e-9;
      for (const int node : jobs.nodes_of_job[j]) {
        bool is_greatest = cpu[node] > 1 - 1e-9;
        for (std::size_t i = 0; i < yield.size(); ++i)
          if (std::count(jobs.nodes_of_job[i].begin(), jobs.nodes_of_job[i].end(), node))
            is_greatest &= yield[i] <= yield[j] + 1e-9;
        is_stopped |= is_greatest;
      }
      EXPECT_TRUE(is_stopped) << "job " << j << " could rise";
    }
    const auto base = base_yields(jobs.mapping());
    EXPECT_NEAR(*std::min_element(yield.begin(), yield.end()), base[0], 1e-9);
  }
}

// The same for shares max(0, slope z - offset): the level z of a job must be stopped.
TEST(MaxMinYields, SharesHaveABottleneckForEachJob) {
  Rng rng(8);
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const MappedJobs jobs = random_mapped_jobs(rng);
    std::vector<double> slope, offset;
    for (std::size_t j = 0; j < jobs.cpu.size(); ++j) {
      slope.push_back(1 + 5 * rng.uniform());
      offset.push_back(rng.below(3) ? 3 * rng.uniform() : 0);
    }
    const auto yield = max_min_shares(jobs.mapping(), slope, offset);
    expect_feasible(jobs, yield);
    const auto cpu = node_use(jobs, yield);
    const auto level = [&](std::size_t j) { return (yield[j] + offset[j]) / slope[j]; };
    for (std::size_t j = 0; j < yield.size(); ++j) {
      bool is_stopped = yield[j] > 1 - 1e-9;
      for (const int node : jobs.nodes_of_job[j]) {
        bool is_greatest = cpu[node] > 1 - 1e-9;
        for (std::size_t i = 0; i < yield.size(); ++i)  // jobs with share 0 take nothing
          if (yield[i] > 1e-9 &&
              std::count(jobs.nodes_of_job[i].begin(), jobs.nodes_of_job[i].end(), node))
            is_greatest &= level(i) <= level(j) + 1e-9;
        is_stopped |= is_greatest;
      }
      EXPECT_TRUE(is_stopped) << "job " << j << " could rise";
    }
  }
}

}  // namespace
}  // namespace cosched::cluster::dfrs
