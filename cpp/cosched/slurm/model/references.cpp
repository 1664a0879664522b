#include "cosched/slurm/model/references.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

// Requires min_number <= number < count; min_number is 0, or -1 where that means none.
void require(const char* what, int number, int min_number, std::size_t count) {
  if (number < min_number || number >= static_cast<int>(count))
    throw InvalidInstance(std::string("slurm: ") + what + " " + std::to_string(number) +
                          ": there are " + std::to_string(count));
}

void require_rows(const char* what, std::size_t rows, int nodes, bool may_be_empty = true) {
  if (rows != static_cast<std::size_t>(nodes) && (rows > 0 || !may_be_empty))
    throw InvalidInstance(std::string("slurm: ") + what + " of " + std::to_string(rows) +
                          " nodes: expected " + std::to_string(nodes));
}

void require_machine(const Machine& machine) {
  if (machine.partitions.empty()) throw InvalidInstance("slurm: a machine without partitions");
  require_rows("cores", machine.node_cores.size(), machine.nodes);
  require_rows("memory", machine.node_memory.size(), machine.nodes);
  require_rows("weights", machine.node_weight.size(), machine.nodes);
  for (const auto& gpus : machine.node_gpus)
    require_rows("GPUs", gpus.size(), machine.nodes, false);
  for (const Partition& part : machine.partitions)
    require("QOS of a partition", part.qos, -1, machine.qos.size());
  for (const Qos& qos : machine.qos)
    for (const int other : qos.preempts) require("QOS to preempt", other, 0, machine.qos.size());
}

void require_running(const RunningState& running, const Machine& machine) {
  int last_node = -1;
  for (const Share& share : running.shares.nodes) {
    if (share.node <= last_node || share.node >= machine.nodes || share.cores < 0)
      throw InvalidInstance("slurm: a running job: expected increasing nodes of the machine");
    last_node = share.node;
  }
  for (const GpuShare& share : running.shares.gpus)
    if (share.node < 0 || share.node >= machine.nodes || share.type < 0 ||
        share.type >= static_cast<int>(machine.node_gpus.size()))
      throw InvalidInstance("slurm: a running job: GPUs that the machine does not have");
}

void require_job(const Job& job, const Scenario& scenario) {
  const Machine& machine = scenario.machine();
  const std::size_t job_count = scenario.jobs().size();
  require("partition", job.partition, 0, machine.partitions.size());
  for (const int partition : job.partitions)
    require("partition", partition, 0, machine.partitions.size());
  require("set of nodes", job.node_set, -1, machine.node_sets.size());
  for (const int set : job.alternative_sets)
    require("set of nodes", set, 0, machine.node_sets.size());
  require("association", job.association, -1, scenario.accounts().size());
  require("QOS", job.qos, -1, machine.qos.size());
  require("type of GPUs", job.request.gpu_type, -1, machine.node_gpus.size());
  const Conditions& conditions = job.conditions;
  require("reservation", conditions.reservation, -1, scenario.reservations().size());
  for (const auto& [licence, count] : conditions.licences)
    require("licence", licence, 0, machine.licences.size());
  for (const Dependency& dependency : conditions.dependencies)
    for (const int other : dependency.jobs) require("job to wait for", other, 0, job_count);
  if (job.running_state) require_running(*job.running_state, machine);
}

}  // namespace

void require_references(const Scenario& scenario) {
  require_machine(scenario.machine());
  for (const Job& job : scenario.jobs()) require_job(job, scenario);
  for (const AdminEvent& event : scenario.admin_events())
    require("job of an administrator", event.job, -1, scenario.jobs().size());
  int number = 0;
  for (const Association& association : scenario.accounts()) {
    const int parent = association.parent;
    const bool is_parent_valid = number == 0 ? parent == -1 : parent >= 0 && parent < number;
    if (!is_parent_valid)
      throw InvalidInstance("slurm: association " + std::to_string(number) + " below " +
                            std::to_string(parent) +
                            ": expected the root first, and each account before what is in it");
    ++number;
  }
}

}  // namespace cosched::slurm
