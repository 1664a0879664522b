#include "cosched/slurm/select/node_fit.hpp"

namespace cosched::slurm {
namespace {

// Cores, of so many free ones, for which the node has enough free memory.
int cores_with_memory(const Machine& machine, const ResourceRequest& request, int node, int cores,
                      const FreeResources& free_resources) {
  if (machine.node_memory.empty()) return cores;
  const std::int64_t free_memory = free_resources.node(node).memory;
  if (request.wants_all_memory) return free_memory == machine.node_memory[node] ? cores : 0;
  if (!request.is_memory_by_core) return request.memory > free_memory ? 0 : cores;
  if (request.is_exclusive) return request.memory * cores > free_memory ? 0 : cores;
  // Divisions are slow, and mostly there is enough for all cores.
  if (request.memory <= 0 || request.memory * cores <= free_memory) return cores;
  return static_cast<int>(std::min<std::int64_t>(cores, free_memory / request.memory));
}

// The most cores of a node that a job with GPUs gets: those of the tasks that it may hold.
int cores_of_tasks(const Job& job) {
  const ResourceRequest& request = job.request;
  if (request.max_nodes == 1) return std::max(request.tasks, 1) * request.task_cores;
  const bool has_task_per_node =
      request.tasks == 1 || (request.tasks == job.nodes && request.tasks == request.max_nodes);
  return has_task_per_node ? request.task_cores : kAnyNodes;
}

}  // namespace

NodeFit fit_on_node(const Machine& machine, const Job& job, int node,
                    const FreeResources& free_resources) {
  const ResourceRequest& request = job.request;
  int cores = free_resources.node(node).cores;
  if (request.is_exclusive && free_resources.node(node).jobs > 0) return {0, 0};
  const int node_tasks = request.max_nodes == 1 ? std::max(request.tasks, 1) : 1;
  const int min_cores = node_tasks * request.task_cores;
  if (cores < min_cores) return {0, 0};
  int gpus = 0;
  if (request.gpus > 0) {
    gpus = free_resources.gpu_count(node, request.gpu_type);
    if (gpus < (request.are_gpus_by_node ? request.gpus : 1)) return {0, 0};
    if (!request.is_exclusive) cores = std::min(cores, cores_of_tasks(job));
  }
  cores = cores_with_memory(machine, request, node, cores, free_resources);
  if (cores < min_cores) return {0, 0};
  return {request.task_cores == 1 ? cores : cores - cores % request.task_cores, gpus};
}

std::int64_t allocated_memory(const Machine& machine, const ResourceRequest& request, int node,
                              int cores) {
  if (machine.node_memory.empty()) return 0;
  if (request.wants_all_memory) return machine.node_memory[node];
  return request.is_memory_by_core ? request.memory * cores : request.memory;
}

}  // namespace cosched::slurm
