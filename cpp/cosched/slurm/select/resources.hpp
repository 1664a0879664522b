// What nodes have for jobs that share them, and what a job has of them (RULES.md 7.1).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// What is free on each node.
struct FreeResources {
  struct Node {
    int cores = 0, jobs = 0;  // free ones; jobs that run on it
    std::int64_t memory = 0;  // where it is handed out
  };
  std::vector<Node> nodes;             // side by side: a test changes many
  NodeBits nodes_with_cores;           // with a free core
  std::vector<std::vector<int>> gpus;  // by type

  FreeResources() = default;
  /// Of an empty machine.
  explicit FreeResources(const Machine& machine)
      : nodes(machine.node_cores.size()),
        nodes_with_cores(static_cast<int>(nodes.size())),
        gpus(machine.node_gpus) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      set_cores(static_cast<int>(n), machine.node_cores[n]);
      if (!machine.node_memory.empty()) nodes[n].memory = machine.node_memory[n];
    }
  }

  void allocate(const Shares& shares) { update(shares, 1); }
  void release(const Shares& shares) { update(shares, -1); }
  /// Of a job that goes, on one of its nodes.
  void release(const Share& share) { update(share, -1); }
  void release(const GpuShare& share) { gpus[share.type][share.node] += share.count; }
  /// Of a job that is suspended: all but its cores.
  void hold_except_cores(const Shares& shares) { update_except_cores(shares, 1); }
  void release_except_cores(const Shares& shares) { update_except_cores(shares, -1); }
  /// The one way to change them: `some` follows.
  void set_cores(int node, int count) {
    nodes[node].cores = count;
    if (count > 0)
      nodes_with_cores.add(node);
    else
      nodes_with_cores.remove(node);
  }
  /// The node becomes as it is there.
  void copy_node(int node, const FreeResources& from) {
    nodes[node] = from.nodes[node];
    set_cores(node, nodes[node].cores);
    for (std::size_t type = 0; type < gpus.size(); ++type) gpus[type][node] = from.gpus[type][node];
  }

  /// Of that type; of all where it is -1.
  int gpu_count(int node, int type) const {
    const auto n = static_cast<std::size_t>(node);
    if (type >= 0) return gpus[type][n];
    int count = 0;
    for (const std::vector<int>& kind : gpus) count += kind[n];
    return count;
  }

 private:
  void update(const Share& share, int sign) {
    Node& node = nodes[share.node];
    set_cores(share.node, node.cores - sign * share.cores);
    node.jobs += sign;
    node.memory -= sign * share.memory;
  }

  void update(const Shares& shares, int sign) {
    for (const Share& share : shares.nodes) update(share, sign);
    for (const GpuShare& share : shares.gpus) gpus[share.type][share.node] -= sign * share.count;
  }

  void update_except_cores(const Shares& shares, int sign) {
    Shares rest = shares;
    for (Share& share : rest.nodes) {
      share.cores = 0;
      nodes[share.node].jobs -= sign;
    }
    update(rest, sign);
  }
};

// What a node has for a job: select/cons_tres on one node (RULES.md 7.2 to 7.6).

struct NodeFit {
  int cores;  // 0: the node is none for the job
  int gpus;   // free ones of its type
};

// Cores that the node's free memory is enough for.
inline int cores_with_memory(const Machine& machine, const ResourceRequest& ask, int node,
                             int cores, const FreeResources& free) {
  if (machine.node_memory.empty()) return cores;
  const std::int64_t room = free.nodes[node].memory;
  if (ask.wants_all_memory) return room == machine.node_memory[node] ? cores : 0;
  if (!ask.is_memory_by_core) return ask.memory > room ? 0 : cores;
  if (ask.is_exclusive) return ask.memory * cores > room ? 0 : cores;
  // Divisions are slow, and mostly there is enough for all.
  if (ask.memory <= 0 || ask.memory * cores <= room) return cores;
  return static_cast<int>(std::min<std::int64_t>(cores, room / ask.memory));
}

// Jobs with GPUs have no more cores than the tasks need that it may hold.
inline int cores_of_tasks(const Job& job) {
  const ResourceRequest& ask = job.request;
  if (ask.max_nodes == 1) return std::max(ask.tasks, 1) * ask.task_cores;
  const bool one = ask.tasks == 1 || (ask.tasks == job.nodes && ask.tasks == ask.max_nodes);
  return one ? ask.task_cores : kAnyNodes;
}

/// Of `free`, for a job that asks so.  O(types of GPUs).
inline NodeFit fit_on_node(const Machine& machine, const Job& job, int node,
                           const FreeResources& free) {
  const ResourceRequest& ask = job.request;
  int cores = free.nodes[node].cores;
  if (ask.is_exclusive && free.nodes[node].jobs > 0) return {0, 0};
  const int least = (ask.max_nodes == 1 ? std::max(ask.tasks, 1) : 1) * ask.task_cores;
  if (cores < least) return {0, 0};
  int gpus = 0;
  if (ask.gpus > 0) {
    gpus = free.gpu_count(node, ask.gpu_type);
    if (gpus < (ask.are_gpus_by_node ? ask.gpus : 1)) return {0, 0};
    if (!ask.is_exclusive) cores = std::min(cores, cores_of_tasks(job));
  }
  cores = cores_with_memory(machine, ask, node, cores, free);
  if (cores < least) return {0, 0};
  return {ask.task_cores == 1 ? cores : cores - cores % ask.task_cores, gpus};
}

/// MB that the job has of a node where it has so many cores.
inline std::int64_t memory_of(const Machine& machine, const ResourceRequest& ask, int node,
                              int cores) {
  if (machine.node_memory.empty()) return 0;
  if (ask.wants_all_memory) return machine.node_memory[node];
  return ask.is_memory_by_core ? ask.memory * cores : ask.memory;
}

}  // namespace cosched::slurm
