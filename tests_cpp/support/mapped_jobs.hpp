// Random jobs that are mapped to nodes, for the tests of CPU allocation.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/cluster/dfrs/mapping.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::cluster::testing {

using dfrs::Mapping;
using dfrs::NodeList;

// Jobs and the nodes of their tasks.
struct MappedJobs {
  std::vector<NodeList> nodes_of_job;
  std::vector<double> cpu;
  int nodes = 0;

  Mapping mapping() const {
    Mapping view{nodes, cpu, {}};
    for (const NodeList& list : nodes_of_job) view.nodes_of_job.push_back(&list);
    return view;
  }
};

inline MappedJobs random_mapped_jobs(Rng& rng) {
  MappedJobs jobs;
  jobs.nodes = 1 + static_cast<int>(rng.below(8));
  const int job_count = 1 + static_cast<int>(rng.below(12));
  for (int j = 0; j < job_count; ++j) {
    std::vector<int> nodes;
    for (std::uint64_t k = 0; k <= rng.below(4); ++k)
      nodes.push_back(static_cast<int>(rng.below(jobs.nodes)));
    std::sort(nodes.begin(), nodes.end());
    jobs.nodes_of_job.emplace_back(nodes);
    jobs.cpu.push_back(rng.below(2) ? 0.25 * static_cast<double>(rng.between(1, 4))
                                    : 1 - rng.uniform());
  }
  return jobs;
}

// CPU that the jobs use of each node.
inline std::vector<double> node_use(const MappedJobs& jobs, const std::vector<double>& yield) {
  std::vector<double> cpu(jobs.nodes, 0.0);
  for (std::size_t j = 0; j < yield.size(); ++j)
    for (const int node : jobs.nodes_of_job[j]) cpu[node] += yield[j] * jobs.cpu[j];
  return cpu;
}

inline void expect_feasible(const MappedJobs& jobs, const std::vector<double>& yield) {
  for (const double cpu : node_use(jobs, yield)) EXPECT_LE(cpu, 1 + 1e-9);
  for (const double y : yield) {
    EXPECT_GE(y, -1e-12);
    EXPECT_LE(y, 1 + 1e-12);
  }
}

}  // namespace cosched::cluster::testing
