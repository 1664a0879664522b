// The idle jobs of some shapes in the order of service.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cosched/cluster/dfrs/idle_queue.hpp"

namespace cosched::cluster::dfrs {

/// Both save time alone: the order is the same whatever they are.
struct ServiceOrderParams {
  /// Blocks that the first part of an order looks into, at least.
  std::size_t first_part_blocks = 8;
  /// Bounds are greater than what they bound: so many times as many blocks as are to be opened get
  /// a new bound before.
  std::size_t bounded_per_opened_block = 3;
};

/// The order at one time, a part after the other.  Keeps a reference to the queue, which must not
/// change meanwhile.
class ServiceOrder {
 public:
  ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now,
               const ServiceOrderParams& params = {});

  /// Whether next_jobs() has returned all jobs.
  bool is_done() const { return open_blocks_.empty() && closed_blocks_.empty(); }
  /// The jobs that follow those returned before; maybe none.  Valid until the next call.
  const std::vector<PrioritisedJob>& next_jobs();

  /// Skips the jobs of shapes for which is_wanted(shape) is false from now on.
  template <class IsWanted>
  void keep_shapes(const IsWanted& is_wanted) {
    const auto is_unwanted = [&](const OrderedBlock& block) { return !is_wanted(block.shape); };
    std::erase_if(open_blocks_, is_unwanted);
    std::erase_if(closed_blocks_, is_unwanted);
  }

 private:
  struct OrderedBlock {
    double bound;  // of its jobs' priorities at now_
    int shape;
    int number;
    // From which `bound` comes; null if it was computed at now_ and is too large by rounding only.
    PriorityBound* old_bound;
  };
  using BlockIterator = std::vector<OrderedBlock>::iterator;

  // Moves the `count` blocks with the greatest bounds, or all, to the end; returns their begin.
  static BlockIterator move_greatest_to_end(BlockIterator first, BlockIterator last,
                                            std::size_t count);
  // Opens the blocks with the greatest bounds, about as many as are open.  Returns a priority that
  // no job of the closed ones reaches.
  double open_more_blocks();

  ServiceOrderParams params_;
  const IdleQueue& queue_;
  double now_;
  std::vector<OrderedBlock> open_blocks_;     // their jobs are looked at
  std::vector<OrderedBlock> closed_blocks_;   // not yet
  PrioritisedJob last_job_ = kBeforeAllJobs;  // that next_jobs() returned
  std::vector<PrioritisedJob> jobs_;
};

}  // namespace cosched::cluster::dfrs
