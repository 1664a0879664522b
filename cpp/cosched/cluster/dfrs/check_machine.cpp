#include "cosched/cluster/dfrs/check_machine.hpp"

#include <string>

#include "cosched/cluster/model/units.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {
namespace {

[[noreturn]] void throw_invalid(const DfrsMachine& machine, const std::string& problem) {
  throw InvalidSchedule("at " + to_text(machine.now()) + " s " + problem);
}

}  // namespace

void check_machine(const DfrsMachine& machine, const Instance& instance) {
  std::vector<double> cpu_shares(machine.node_count(), 0.0);
  for (const int rank : machine.running()) {
    const DfrsMachine::Job& job = machine.job(rank);
    const std::string name = instance.jobs().name_of(instance.order()[rank]);
    if (static_cast<int>(job.nodes.size()) != job.tasks)
      throw_invalid(machine, name + " has " + std::to_string(job.nodes.size()) + " nodes for " +
                                 std::to_string(job.tasks) + " tasks");
    if (!(job.yield >= 0 && job.yield <= 1 + kValidateTolerance))
      throw_invalid(machine, name + " has yield " + to_text(job.yield) + ": expected 0 to 1");
    for (const int node : job.nodes) cpu_shares[node] += job.yield * job.cpu;
  }
  for (int node = 0; node < machine.node_count(); ++node) {
    const std::string name = "node " + std::to_string(node);
    const std::int64_t memory_used = machine.nodes()[node].memory_used;
    if (memory_used > kMemoryLimit)
      throw_invalid(machine, name + " has " +
                                 to_text(static_cast<double>(memory_used) /
                                         static_cast<double>(kMemoryUnit)) +
                                 " of its memory in use: expected at most 1");
    if (cpu_shares[node] > 1 + kValidateTolerance)
      throw_invalid(machine, name + " has CPU shares of " + to_text(cpu_shares[node]) +
                                 ": expected at most 1");
  }
}

}  // namespace cosched::cluster::dfrs
