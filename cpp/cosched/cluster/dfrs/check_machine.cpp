#include "cosched/cluster/dfrs/check_machine.hpp"

#include <string>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {
namespace {

[[noreturn]] void refuse(const Machine& machine, const std::string& what) {
  throw InvalidSchedule("at " + to_text(machine.now()) + " s " + what);
}

}  // namespace

void check_machine(const Machine& machine, const Instance& instance) {
  std::vector<double> cpu(machine.node_count(), 0.0);
  for (const int rank : machine.running()) {
    const auto& job = machine.job(rank);
    const std::string name = instance.jobs().called(instance.order()[rank]);
    if (static_cast<int>(job.nodes.size()) != job.tasks)
      refuse(machine, name + " has " + std::to_string(job.nodes.size()) + " nodes for " +
                          std::to_string(job.tasks) + " tasks");
    if (!(job.yield >= 0 && job.yield <= 1 + 1e-9))
      refuse(machine, name + " has yield " + to_text(job.yield) + ": expected 0 to 1");
    for (const int node : job.nodes) cpu[node] += job.yield * job.cpu;
  }
  for (int node = 0; node < machine.node_count(); ++node) {
    const std::string name = "node " + std::to_string(node);
    if (machine.nodes()[node].memory_used > kMemoryLimit)
      refuse(machine, name + " has " +
                          to_text(static_cast<double>(machine.nodes()[node].memory_used) /
                                  static_cast<double>(kMemoryUnit)) +
                          " of its memory in use: expected at most 1");
    if (cpu[node] > 1 + 1e-9)
      refuse(machine, name + " has CPU shares of " + to_text(cpu[node]) + ": expected at most 1");
  }
}

}  // namespace cosched::cluster::dfrs
