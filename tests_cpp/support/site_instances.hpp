// Machines of nodes with memory and GPUs, and jobs on them, for the tests of batch policies.
#pragma once

#include <vector>

#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::testing {

/// The request of one job; by default a core anywhere.
struct SiteJob {
  int tasks = 1;
  int parts = 1;
  double memory = 0;  // KB
  int gpus = 0;
  batch::BitSet64 cells = batch::kFullBitSet;
  batch::BitSet64 gpu_types = batch::kFullBitSet;
  std::vector<int> initial_cores = {};
};

inline batch::SiteRequests site_requests(const std::vector<SiteJob>& jobs) {
  batch::SiteRequests requests;
  for (const SiteJob& job : jobs) {
    requests.tasks.push_back(job.tasks);
    requests.parts.push_back(job.parts);
    requests.memory.push_back(job.memory);
    requests.gpus.push_back(job.gpus);
    requests.cells.push_back(job.cells);
    requests.gpu_types.push_back(job.gpu_types);
    requests.initial_cores.push_back(job.initial_cores);
  }
  return requests;
}

/// Two nodes of 4 cores and 100 KB in cell 0, one of 8 cores, 50 KB and 2 GPUs in cell 1.
inline std::vector<batch::SiteNode> three_nodes() {
  const batch::ResourceAmounts small{.memory = 100, .cores = 4, .gpus = 0};
  const batch::ResourceAmounts large{.memory = 50, .cores = 8, .gpus = 2};
  return {{.capacity = small, .cell = 0, .gpu_type = 0, .first_core = 0},
          {.capacity = small, .cell = 0, .gpu_type = 0, .first_core = 4},
          {.capacity = large, .cell = 1, .gpu_type = 1, .first_core = 8}};
}

/// One job on the three nodes.
inline batch::Site three_node_site(const SiteJob& job) {
  return batch::Site(three_nodes(), site_requests({job}));
}

/// Two nodes of so many cores in one cell, and jobs without memory and GPUs.
inline batch::Site two_node_site(int cores, const std::vector<SiteJob>& jobs) {
  const batch::ResourceAmounts capacity{.memory = 0, .cores = cores, .gpus = 0};
  return batch::Site({{.capacity = capacity, .cell = 0, .gpu_type = 0, .first_core = 0},
                      {.capacity = capacity, .cell = 0, .gpu_type = 0, .first_core = cores}},
                     site_requests(jobs));
}

}  // namespace cosched::cluster::testing
