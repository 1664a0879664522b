// Machines, jobs and sets of nodes for the tests of slurm.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/slurm/queue/queue.hpp"
#include "cosched/slurm/select/allocations.hpp"
#include "cosched/slurm/select/node_choice.hpp"

namespace cosched::slurm {

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
  machine.node_lines = {nodes_from(0, nodes, nodes)};
  machine.partitions = {{nodes_from(0, nodes, nodes), 1, kNever, 0}};
  return machine;
}

inline Job plain_job(double submit, int nodes, Second limit, double runtime = 10,
                     int partition = 0) {
  return {submit, nodes, nodes, limit, runtime, partition, 0, 0};
}

inline Association root_account() { return {.parent = -1}; }
inline Association account_below(int parent, const Limits& limits = {}) {
  return {.parent = parent, .limits = limits};
}
inline Association user_below(int parent, const Limits& limits = {}) {
  return {.parent = parent, .is_user = true, .limits = limits};
}

inline Scenario scenario_of(Machine machine, std::vector<Job> jobs,
                            const std::map<std::string, double>& parameters = {}) {
  return Scenario(std::move(machine), std::move(jobs), to_settings(parameters));
}

using Nodes = std::vector<int>;

/// Whole nodes [first, last).
inline NodeChoice choice_from(int first, int last, int nodes) {
  NodeChoice choice(nodes);
  choice.nodes = nodes_from(first, last, nodes);
  return choice;
}

/// Nodes of `cores` each, which jobs share.
inline Machine shared_machine(std::vector<int> cores) {
  Machine machine = plain_machine(static_cast<int>(cores.size()));
  machine.cpus = 0;
  for (const int count : cores) machine.cpus += count;
  machine.node_cores = std::move(cores);
  return machine;
}

/// Nodes that jobs share, all of them in a partition of each of these tiers.
inline Machine tiers_of(std::vector<int> cores, const std::vector<int>& tiers) {
  Machine machine = shared_machine(std::move(cores));
  const Partition part = machine.partitions[0];
  machine.partitions.clear();
  for (const int tier : tiers) {
    machine.partitions.push_back(part);
    machine.partitions.back().tier = tier;
  }
  return machine;
}

/// With PreemptMode=SUSPEND,GANG.
inline Scenario suspending(Machine machine, std::vector<Job> jobs) {
  return scenario_of(std::move(machine), std::move(jobs),
                     {{"PreemptType", 1}, {"PreemptMode", 3}, {"cons_tres", 1}});
}

/// Of so many cores on any nodes.
inline Job shared_job(int cores, Second limit = 60) {
  Job job = plain_job(0, 1, limit);
  job.cpus = job.request.tasks = cores;
  return job;
}

/// The job has so many cores of each of these nodes.
inline NodeChoice shares_from(const std::vector<std::pair<int, int>>& cores, int nodes) {
  NodeChoice choice(nodes);
  for (const auto& [node, count] : cores) {
    choice.nodes.add(node);
    choice.shares.nodes.push_back({node, count, 0});
  }
  return choice;
}

/// The job waits in the queue.
inline void enter(Queue& queue, int job, double time) {
  queue.submit(job, time);
  queue.enter(job);
}

inline Nodes jobs_of(const Queue& queue) {
  Nodes jobs;
  for (const QueueEntry& entry : queue.entries()) jobs.push_back(entry.job);
  return jobs;
}

}  // namespace cosched::slurm
