#include "cosched/slurm/model/references.hpp"

#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

// `least` is 0, or -1 where that means none.
void require(const char* what, int number, int least, std::size_t count) {
  if (number < least || number >= static_cast<int>(count))
    throw InvalidInstance(std::string("slurm: ") + what + " " + std::to_string(number) +
                          ": there are " + std::to_string(count));
}

void require_rows(const char* what, std::size_t rows, int nodes, bool may_lack = true) {
  if (rows != static_cast<std::size_t>(nodes) && (rows > 0 || !may_lack))
    throw InvalidInstance(std::string("slurm: ") + what + " of " + std::to_string(rows) +
                          " nodes: expected " + std::to_string(nodes));
}

void require_machine(const Machine& machine) {
  if (machine.parts.empty()) throw InvalidInstance("slurm: a machine without partitions");
  require_rows("cores", machine.node_cores.size(), machine.nodes);
  require_rows("memory", machine.node_memory.size(), machine.nodes);
  require_rows("weights", machine.node_weight.size(), machine.nodes);
  for (const auto& gpus : machine.node_gpus)
    require_rows("GPUs", gpus.size(), machine.nodes, false);
  for (const Partition& part : machine.parts)
    require("QOS of a partition", part.qos, -1, machine.qos.size());
  for (const Qos& qos : machine.qos)
    for (const int other : qos.preempts) require("QOS to preempt", other, 0, machine.qos.size());
}

void require_running(const Running& running, const Machine& machine) {
  int last = -1;
  for (const Share& share : running.holds.nodes) {
    if (share.node <= last || share.node >= machine.nodes || share.cores < 0)
      throw InvalidInstance("slurm: a running job: expected increasing nodes of the machine");
    last = share.node;
  }
  for (const GpuShare& share : running.holds.gpus)
    if (share.node < 0 || share.node >= machine.nodes || share.type < 0 ||
        share.type >= static_cast<int>(machine.node_gpus.size()))
      throw InvalidInstance("slurm: a running job: GPUs that the machine does not have");
}

void require_job(const Job& job, const Scenario& scenario) {
  const Machine& machine = scenario.machine();
  const std::size_t jobs = scenario.jobs().size();
  require("partition", job.partition, 0, machine.parts.size());
  for (const int part : job.partitions) require("partition", part, 0, machine.parts.size());
  require("set of nodes", job.set, -1, machine.sets.size());
  for (const int set : job.alternatives) require("set of nodes", set, 0, machine.sets.size());
  require("association", job.association, -1, scenario.accounts().size());
  require("QOS", job.qos, -1, machine.qos.size());
  require("type of GPUs", job.ask.gpu_type, -1, machine.node_gpus.size());
  const Conditions& conditions = job.conditions;
  require("reservation", conditions.reservation, -1, scenario.reservations().size());
  for (const auto& [which, count] : conditions.licences)
    require("licence", which, 0, machine.licences.size());
  for (const Dependency& one : conditions.after)
    for (const int other : one.jobs) require("job to wait for", other, 0, jobs);
  if (job.running) require_running(*job.running, machine);
}

}  // namespace

void require_references(const Scenario& scenario) {
  require_machine(scenario.machine());
  for (const Job& job : scenario.jobs()) require_job(job, scenario);
  for (const Outside& one : scenario.outside())
    require("job of an administrator", one.job, -1, scenario.jobs().size());
  int number = 0;
  for (const Association& one : scenario.accounts()) {
    if (number == 0 ? one.parent != -1 : one.parent < 0 || one.parent >= number)
      throw InvalidInstance("slurm: association " + std::to_string(number) + " below " +
                            std::to_string(one.parent) +
                            ": expected the root first, and each account before what is in it");
    ++number;
  }
}

}  // namespace cosched::slurm
