#include "cosched/slurm/select/resources.hpp"

#include <algorithm>

namespace cosched::slurm {

Free::Free(const Machine& machine)
    : cores(machine.node_cores),
      memory(machine.node_memory),
      gpus(machine.node_gpus),
      jobs(machine.node_cores.size()) {
  some = NodeBits(static_cast<int>(cores.size()));
  for (int node = 0; node < static_cast<int>(cores.size()); ++node)
    set_cores(node, cores[static_cast<std::size_t>(node)]);
}

void Free::set_cores(int node, int count) {
  cores[static_cast<std::size_t>(node)] = count;
  if (count > 0)
    some.add(node);
  else
    some.remove(node);
}

int Free::gpus_of(int node, int type) const {
  const auto n = static_cast<std::size_t>(node);
  if (type >= 0) return gpus[static_cast<std::size_t>(type)][n];
  int count = 0;
  for (const std::vector<int>& kind : gpus) count += kind[n];
  return count;
}

void Free::change_rest(const Shares& shares, int sign) {
  Shares rest = shares;
  for (Share& share : rest.nodes) {
    share.cores = 0;
    jobs[static_cast<std::size_t>(share.node)] -= sign;
  }
  change(rest, sign);
}

void Free::change(const Shares& shares, int sign) {
  for (const Share& share : shares.nodes) {
    const auto node = static_cast<std::size_t>(share.node);
    set_cores(share.node, cores[node] - sign * share.cores);
    jobs[node] += sign;
    if (!memory.empty()) memory[node] -= sign * share.memory;
  }
  for (const GpuShare& share : shares.gpus)
    gpus[static_cast<std::size_t>(share.type)][static_cast<std::size_t>(share.node)] -=
        sign * share.count;
}

namespace {

// Cores that the node's free memory is enough for.
int cores_with_memory(const Machine& machine, const Ask& ask, int node, int cores,
                      const Free& free) {
  if (machine.node_memory.empty()) return cores;
  const auto n = static_cast<std::size_t>(node);
  const std::int64_t room = free.memory[n];
  if (ask.memory_all) return room == machine.node_memory[n] ? cores : 0;
  if (!ask.memory_by_core) return ask.memory > room ? 0 : cores;
  if (ask.exclusive) return ask.memory * cores > room ? 0 : cores;
  // Divisions are slow, and mostly there is enough for all.
  if (ask.memory <= 0 || ask.memory * cores <= room) return cores;
  return static_cast<int>(std::min<std::int64_t>(cores, room / ask.memory));
}

// Jobs with GPUs have no more cores than the tasks need that it may hold.
int cores_of_tasks(const Job& job) {
  const Ask& ask = job.ask;
  if (ask.max_nodes == 1) return std::max(ask.tasks, 1) * ask.task_cores;
  const bool one = ask.tasks == 1 || (ask.tasks == job.nodes && ask.tasks == ask.max_nodes);
  return one ? ask.task_cores : kAnyNodes;
}

}  // namespace

Fit fit(const Machine& machine, const Job& job, int node, const Free& free) {
  const Ask& ask = job.ask;
  const auto n = static_cast<std::size_t>(node);
  int cores = free.cores[n];
  if (ask.exclusive && free.jobs[n] > 0) return {0, 0};
  const int least = (ask.max_nodes == 1 ? std::max(ask.tasks, 1) : 1) * ask.task_cores;
  if (cores < least) return {0, 0};
  int gpus = 0;
  if (ask.gpus > 0) {
    gpus = free.gpus_of(node, ask.gpu_type);
    if (gpus < (ask.gpus_by_node ? ask.gpus : 1)) return {0, 0};
    if (!ask.exclusive) cores = std::min(cores, cores_of_tasks(job));
  }
  cores = cores_with_memory(machine, ask, node, cores, free);
  if (cores < least) return {0, 0};
  return {ask.task_cores == 1 ? cores : cores - cores % ask.task_cores, gpus};
}

std::int64_t memory_of(const Machine& machine, const Ask& ask, int node, int cores) {
  if (machine.node_memory.empty()) return 0;
  if (ask.memory_all) return machine.node_memory[static_cast<std::size_t>(node)];
  return ask.memory_by_core ? ask.memory * cores : ask.memory;
}

}  // namespace cosched::slurm
