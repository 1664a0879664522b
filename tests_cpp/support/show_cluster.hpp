// Instances of cluster, printed where a random test fails.
#pragma once

#include "cosched/cluster/model/instance.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster {

inline void show(std::ostream& out, const Instance& instance) {
  const Jobs& jobs = instance.jobs();
  out << instance.nodes() << " nodes, jobs {submit, tasks, cpu, memory, runtime, estimate} {";
  for (int j = 0; j < jobs.size(); ++j) {
    out << (j > 0 ? ", {" : "{") << jobs.submit[j] << ", " << jobs.tasks[j] << ", " << jobs.cpu[j]
        << ", " << jobs.memory[j] << ", " << jobs.runtime[j];
    if (instance.has_estimates()) out << ", " << jobs.estimate[j];
    out << '}';
  }
  out << '}';
}

}  // namespace cosched::cluster
