#include "cosched/cluster/slurm/group_counts.hpp"

#include <algorithm>

namespace cosched::cluster::slurm {

GroupCounts::GroupCounts(const Scenario& scenario)
    : scenario_(scenario), used_(scenario.machine().groups.size(), Group{0, 0, 0}) {}

bool GroupCounts::allow(int job) const {
  const Job& one = scenario_.job(job);
  return std::all_of(one.groups.begin(), one.groups.end(), [&](int group) {
    const Group& limit = scenario_.machine().groups[static_cast<std::size_t>(group)];
    const Group& used = used_[static_cast<std::size_t>(group)];
    return used.jobs + 1 <= limit.jobs && used.nodes + one.nodes <= limit.nodes &&
           used.cpus + one.counted_cpus <= limit.cpus;
  });
}

void GroupCounts::count(int job, int sign) {
  const Job& one = scenario_.job(job);
  for (const int group : one.groups) {
    Group& used = used_[static_cast<std::size_t>(group)];
    used.jobs += sign;
    used.nodes += sign * one.nodes;
    used.cpus += sign * one.counted_cpus;
  }
}

}  // namespace cosched::cluster::slurm
