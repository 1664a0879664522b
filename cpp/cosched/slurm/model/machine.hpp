// The machine: nodes, partitions, QOS.
#pragma once

#include <limits>

#include "cosched/slurm/model/account_limits.hpp"
#include "cosched/slurm/model/node_bits.hpp"
#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

inline constexpr int kAnyNodes = std::numeric_limits<int>::max();

struct Partition {
  NodeBits nodes;
  int tier = 1;               // PriorityTier
  Second max_time = kNever;   // MaxTime
  double job_factor = 0;      // PriorityJobFactor over the largest one
  int min_nodes = 0;          // MinNodes of a job (RULES.md 9.11)
  int max_nodes = kAnyNodes;  // MaxNodes of a job
  int qos = -1;               // of Machine::qos, whose limits hold for its jobs
  Amounts billing = {};       // TRESBillingWeights; empty: CPUs
  int preempt_mode = -1;      // of its jobs; -1: the cluster's
  Second grace_time = 0;      // GraceTime
};

/// Vectors by node or licence are empty where the cluster does not use them.
struct Machine {
  int nodes = 0;
  int cpus = 0;                      // of all nodes
  std::vector<NodeBits> node_lines;  // NodeName lines, by increasing weight
  std::vector<Partition> partitions;
  std::vector<int> node_cores;              // by node, where jobs share nodes (CR_Core)
  std::vector<std::int64_t> node_memory;    // MB by node, where memory is allocated
  std::vector<std::vector<int>> node_gpus;  // by type and node
  std::vector<int> node_weight;             // Weight by node; empty: all are equal
  std::vector<NodeBits> node_sets;          // nodes with some features, as jobs ask for them
  std::vector<int> licences;                // how many of each
  std::vector<Qos> qos;
  Amounts priority_tres = {};        // PriorityWeightTRES; empty: none
  NodeBits down_nodes = NodeBits();  // that take no jobs from the beginning on (RULES.md 11.4)
};

}  // namespace cosched::slurm
