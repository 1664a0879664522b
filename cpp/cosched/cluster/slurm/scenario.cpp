#include "cosched/cluster/slurm/scenario.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::slurm {

Scenario::Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings)
    : machine_(std::move(machine)), jobs_(std::move(jobs)), settings_(settings) {
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    Job& one = jobs_[j];
    const Partition& partition = machine_.parts.at(static_cast<std::size_t>(one.partition));
    one.limit = std::min(one.limit, partition.max_time);
    if (one.limit >= kNever) one.limit = kYear;
    if (partition.nodes.count() < one.nodes)
      throw InfeasibleError("job " + std::to_string(j) + " wants " + std::to_string(one.nodes) +
                            " nodes: its partition has fewer");
  }
}

}  // namespace cosched::cluster::slurm
