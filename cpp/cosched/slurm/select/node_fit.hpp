// What a node has for a job: `can_job_run_on_node` of cons_tres (RULES.md 7.2 to 7.6).
#pragma once

#include "cosched/slurm/select/free_resources.hpp"

namespace cosched::slurm {

struct NodeFit {
  int cores;  // 0: the job cannot run on the node
  int gpus;   // free ones of the type that the job asks for
};

/// What the node has for the job.  O(types of GPUs).
NodeFit fit_on_node(const Machine& machine, const Job& job, int node,
                    const FreeResources& free_resources);

/// MB that the job is allocated on a node where it has so many cores.
std::int64_t allocated_memory(const Machine& machine, const ResourceRequest& request, int node,
                              int cores);

}  // namespace cosched::slurm
