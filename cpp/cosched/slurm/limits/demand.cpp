#include "cosched/slurm/limits/demand.hpp"

namespace cosched::slurm {
namespace {

Amounts no_tres(const Scenario& scenario) {
  return Amounts(kGpuTypes + scenario.machine().node_gpus.size());
}

int cpus_per_node(const Machine& machine) { return machine.cpus / std::max(machine.nodes, 1); }

// Sets the billing TRES: TRESBillingWeights of the partition, or CPUs.  With MAX_TRES the largest
// term counts alone.
void set_billing(const Scenario& scenario, QueueEntry entry, Amounts& tres) {
  const Amounts& weights = scenario.partition(entry).billing;
  const bool is_max_tres = scenario.settings().priority.max_tres;
  double billing = weights.empty() ? tres[kCpu] : 0;
  for (std::size_t k = 0; k < std::min(weights.size(), tres.size()); ++k) {
    if (k == kBilling) continue;
    const double term = weights[k] * tres[k];
    billing = is_max_tres ? std::max(billing, term) : billing + term;
  }
  tres[kBilling] = billing;
}

}  // namespace

Demand requested_demand(const Scenario& scenario, QueueEntry entry, int node_count) {
  const Job& job = scenario.job(entry);
  const ResourceRequest& request = job.request;
  Demand demand{no_tres(scenario)};
  Amounts& tres = demand.tres;
  tres[kNode] = node_count;
  tres[kCpu] = scenario.shares_nodes() && !request.is_exclusive
                   ? std::max(job.cpus, request.tasks * request.task_cores)
                   : node_count * cpus_per_node(scenario.machine());
  tres[kMemory] =
      static_cast<double>(request.memory) * (request.is_memory_by_core ? tres[kCpu] : node_count);
  tres[kGpu] = request.gpus * (request.are_gpus_by_node ? node_count : 1);
  if (request.gpu_type >= 0) tres[kGpuTypes + request.gpu_type] = tres[kGpu];
  set_billing(scenario, entry, tres);
  return demand;
}

Demand submitted_demand(const Scenario& scenario, QueueEntry entry) {
  Demand demand = requested_demand(scenario, entry, scenario.job(entry).nodes);
  demand.tres[kCpu] = scenario.job(entry).cpus;
  set_billing(scenario, entry, demand.tres);
  return demand;
}

Demand allocated_demand(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice) {
  if (!scenario.shares_nodes()) {
    Demand demand = requested_demand(scenario, entry, choice.nodes.count());
    demand.nodes = &choice.nodes;
    return demand;
  }
  Demand demand{no_tres(scenario), &choice.nodes};
  Amounts& tres = demand.tres;
  tres[kNode] = choice.nodes.count();
  for (const Share& share : choice.shares.nodes) {
    tres[kCpu] += share.cores;
    tres[kMemory] += static_cast<double>(share.memory);
  }
  for (const GpuShare& share : choice.shares.gpus) {
    tres[kGpu] += share.count;
    tres[kGpuTypes + share.type] += share.count;
  }
  set_billing(scenario, entry, tres);
  return demand;
}

Amounts tres_of_nodes(const Scenario& scenario, const NodeBits& nodes) {
  const Machine& machine = scenario.machine();
  Amounts tres = no_tres(scenario);
  tres[kNode] = nodes.count();
  if (!scenario.shares_nodes()) {
    tres[kCpu] = tres[kNode] * cpus_per_node(machine);
    return tres;
  }
  for (const int node : nodes.to_list()) {
    const auto n = static_cast<std::size_t>(node);
    tres[kCpu] += machine.node_cores[n];
    if (!machine.node_memory.empty()) tres[kMemory] += static_cast<double>(machine.node_memory[n]);
    for (std::size_t type = 0; type < machine.node_gpus.size(); ++type) {
      tres[kGpu] += machine.node_gpus[type][n];
      tres[kGpuTypes + type] += machine.node_gpus[type][n];
    }
  }
  return tres;
}

double usage_per_second(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice) {
  const int qos = scenario.job(entry).qos;
  const double usage_factor = qos < 0 ? 1 : scenario.machine().qos[qos].usage_factor;
  return allocated_demand(scenario, entry, choice).tres[kBilling] * usage_factor;
}

}  // namespace cosched::slurm
