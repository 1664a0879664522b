// Sorts the queue of a batch policy.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"

namespace cosched::cluster::batch {

/// Whether one job comes before another in the queue at time `now`: a strict weak order of ranks.
class QueueComparator {
 public:
  QueueComparator(const QueueOrder& order, const std::vector<BatchJob>& jobs, double now)
      : order_(order), jobs_(jobs), now_(now) {}

  bool operator()(int a, int b) const;

 private:
  double wfp3_priority(const BatchJob& job) const;

  const QueueOrder& order_;
  const std::vector<BatchJob>& jobs_;
  double now_;
};

/// Sorts the ranks of `queue` from `first` on, of which those from `first_new` on have been
/// appended since the last call.  Returns false where the order is that of submission, in which the
/// queue is by itself.
bool sort_queue(std::vector<int>& queue, std::size_t first, std::size_t first_new,
                const QueueOrder& order, const std::vector<BatchJob>& jobs, double now);

}  // namespace cosched::cluster::batch
