// Jobs as a batch policy reads them.
#pragma once

#include <vector>

#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// The columns of one job side by side, because a pass over the queue reads them together.
struct BatchJob {
  double submit;            // s
  double runtime;           // s
  double expected_runtime;  // s, see Estimates
  int tasks;                // nodes, each of which runs one task
  int job;                  // its number in the instance
};

/// All jobs by rank (Instance::order).  Requested estimates need Instance::has_estimates()
/// (InvalidInstance).
std::vector<BatchJob> make_batch_jobs(const Instance& instance, Estimates estimates);

}  // namespace cosched::cluster::batch
