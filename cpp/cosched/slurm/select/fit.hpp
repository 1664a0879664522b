// What a node has for a job: select/cons_tres on one node (RULES.md 7.2 to 7.6).
#pragma once

#include "cosched/slurm/select/resources.hpp"

namespace cosched::slurm {

struct Fit {
  int cores;  // 0: the node is none for the job
  int gpus;   // free ones of its type
};

/// Of `free`, for a job that asks so.  O(types of GPUs).
Fit fit(const Machine& machine, const Job& job, int node, const Free& free);

/// MB that the job has of a node where it has so many cores.
std::int64_t memory_of(const Machine& machine, const Ask& ask, int node, int cores);

}  // namespace cosched::slurm
