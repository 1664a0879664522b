#include "cosched/slurm/limits/demand.hpp"

#include <algorithm>

namespace cosched::slurm {
namespace {

// TRESBillingWeights of the partition, or CPUs.  With MAX_TRES the dearest counts alone.
void bill(const Scenario& scenario, Entry entry, Amounts& tres) {
  const Amounts& weights = scenario.part(entry).billing;
  const bool dearest = scenario.settings().priority.max_tres;
  double& bill = tres[kBilling] = weights.empty() ? tres[kCpu] : 0;
  for (std::size_t k = 0; k < std::min(weights.size(), tres.size()); ++k)
    if (k != kBilling) {
      const double own = weights[k] * tres[k];
      bill = dearest ? std::max(bill, own) : bill + own;
    }
}

Amounts none(const Scenario& scenario) {
  return Amounts(kGpuTypes + scenario.machine().node_gpus.size());
}

}  // namespace

Demand request_of(const Scenario& scenario, Entry entry, int nodes) {
  const Machine& machine = scenario.machine();
  const Job& job = scenario.job(entry);
  const Ask& ask = job.ask;
  Demand demand{none(scenario)};
  Amounts& tres = demand.tres;
  tres[kNode] = nodes;
  tres[kCpu] = scenario.own_cores() && !ask.exclusive
                   ? std::max(job.cpus, ask.tasks * ask.task_cores)
                   : nodes * (machine.cpus / std::max(machine.nodes, 1));
  tres[kMemory] = static_cast<double>(ask.memory) * (ask.memory_by_core ? tres[kCpu] : nodes);
  tres[kGpu] = ask.gpus * (ask.gpus_by_node ? nodes : 1);
  if (ask.gpu_type >= 0) tres[static_cast<std::size_t>(kGpuTypes + ask.gpu_type)] = tres[kGpu];
  bill(scenario, entry, tres);
  return demand;
}

Demand submitted_of(const Scenario& scenario, Entry entry) {
  Demand demand = request_of(scenario, entry, scenario.job(entry).nodes);
  demand.tres[kCpu] = scenario.job(entry).cpus;
  bill(scenario, entry, demand.tres);
  return demand;
}

Demand demand_of(const Scenario& scenario, Entry entry, const Choice& choice) {
  if (!scenario.own_cores()) {
    Demand demand = request_of(scenario, entry, choice.nodes.count());
    demand.nodes = &choice.nodes;
    return demand;
  }
  Demand demand{none(scenario), &choice.nodes};
  Amounts& tres = demand.tres;
  tres[kNode] = choice.nodes.count();
  for (const Share& share : choice.shares.nodes) {
    tres[kCpu] += share.cores;
    tres[kMemory] += static_cast<double>(share.memory);
  }
  for (const GpuShare& share : choice.shares.gpus) {
    tres[kGpu] += share.count;
    tres[static_cast<std::size_t>(kGpuTypes + share.type)] += share.count;
  }
  bill(scenario, entry, tres);
  return demand;
}

Amounts amounts_of(const Scenario& scenario, const NodeBits& nodes) {
  const Machine& machine = scenario.machine();
  Amounts all = none(scenario);
  all[kNode] = nodes.count();
  if (!scenario.own_cores()) {
    all[kCpu] = all[kNode] * (machine.cpus / std::max(machine.nodes, 1));
    return all;
  }
  for (const int node : nodes.list()) {
    const auto n = static_cast<std::size_t>(node);
    all[kCpu] += machine.node_cores[n];
    if (!machine.node_memory.empty()) all[kMemory] += static_cast<double>(machine.node_memory[n]);
    for (std::size_t type = 0; type < machine.node_gpus.size(); ++type) {
      all[kGpu] += machine.node_gpus[type][n];
      all[kGpuTypes + type] += machine.node_gpus[type][n];
    }
  }
  return all;
}

double price_of(const Scenario& scenario, Entry entry, const Choice& choice) {
  const int qos = scenario.job(entry).qos;
  const double factor =
      qos < 0 ? 1 : scenario.machine().qos[static_cast<std::size_t>(qos)].usage_factor;
  return demand_of(scenario, entry, choice).tres[kBilling] * factor;
}

}  // namespace cosched::slurm
