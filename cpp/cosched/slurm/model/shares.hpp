// What a job has of nodes that jobs share.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::slurm {

/// A job's part of a node.
struct Share {
  int node;
  int cores;
  std::int64_t memory;  // MB
};
struct GpuShare {
  int node;
  int type;
  int count;
};
struct Shares {
  std::vector<Share> nodes;  // increasing
  std::vector<GpuShare> gpus;
};

}  // namespace cosched::slurm
