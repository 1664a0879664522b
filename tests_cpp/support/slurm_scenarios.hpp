// Machines, jobs and sets of nodes for the tests of cluster/slurm.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cosched/cluster/slurm/scenario.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::cluster::slurm {

inline NodeBits some_nodes(Rng& rng, int nodes) {
  NodeBits bits(nodes);
  for (int node = 0; node < nodes; ++node)
    if (rng.below(3) == 0) bits.add(node);
  return bits;
}

inline NodeBits nodes_from(int first, int last, int nodes) {
  NodeBits bits(nodes);
  bits.add_range(first, last);
  return bits;
}

/// All nodes in one partition and one NodeName line, a CPU a node.
inline Machine plain_machine(int nodes) {
  Machine machine;
  machine.nodes = machine.cpus = nodes;
  machine.lines = {nodes_from(0, nodes, nodes)};
  machine.parts = {{nodes_from(0, nodes, nodes), 1, kNever, 0}};
  return machine;
}

inline Job plain_job(double submit, int nodes, Second limit, double runtime = 10,
                     int partition = 0) {
  return {submit, nodes, nodes, limit, runtime, partition, 0, 0};
}

inline Scenario scenario_of(Machine machine, std::vector<Job> jobs,
                            const std::map<std::string, double>& parameters = {}) {
  return Scenario(std::move(machine), std::move(jobs), to_settings(parameters));
}

using Nodes = std::vector<int>;

}  // namespace cosched::cluster::slurm
