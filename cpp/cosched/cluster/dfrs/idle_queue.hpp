// Waiting and paused jobs, arranged so that an event looks closely at few of them.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/cluster/dfrs/idle_block.hpp"
#include "cosched/cluster/dfrs/job_shape.hpp"
#include "cosched/cluster/model/prefetch.hpp"

namespace cosched::cluster::dfrs {

/// The priority (now - submit) / (virtual time)^2 of every idle job grows with the clock, each at
/// its own speed: no sorted list stays sorted, and as policies serve the greatest first, thousands
/// in a long queue are nearly equal.  Jobs are kept by shape (memory need, tasks): jobs of one
/// shape find room all or none, so those of a shape without room are not looked at.  Within a shape
/// they are in blocks, those that came at about the same time together: they ran last at about the
/// same time, and are wanted again at about the same time.  A PriorityBound, computed now and then,
/// bounds the greatest priority of a block while the clock goes on; only blocks whose bound reaches
/// the wanted priority are looked into.  All shapes are numbered in advance: a job, which comes and
/// goes many times, finds its group without a search.
class IdleQueue {
 public:
  /// Jobs of one shape, in blocks.
  struct ShapeGroup {
    std::vector<int> blocks;  // numbers; no block is empty; jobs are added to the last
    // Of the blocks.  A reader computes a bound anew where it has risen too far: what the queue
    // contains, and every answer, stay the same.
    mutable std::vector<PriorityBound> bounds;
    int job_count = 0;
  };

  /// For jobs of these shapes, by rank.  O(jobs log jobs).
  explicit IdleQueue(const std::vector<JobShape>& shapes);

  /// O(1), amortised, and O(shapes present) for the first job of a shape.
  void add(int rank, double submit, double virtual_time);
  /// O(1); O(blocks of the shape) for the last job of a block, O(shapes present) for that of a
  /// shape.
  void remove(int rank);
  /// Announces that remove(rank) will be called.
  void prefetch_job(int rank) const { prefetch(&places_[rank]); }

  /// The numbers of the shapes that some idle job has: by increasing memory need.
  const std::vector<int>& present_shapes() const { return present_shapes_; }
  int shape_count() const { return static_cast<int>(shapes_.size()); }
  const JobShape& shape(int number) const { return shapes_[number]; }
  /// The number of the job's shape, whether the job is idle or not.
  int shape_of(int rank) const { return places_[rank].shape; }
  /// All idle jobs, increasing.
  std::vector<int> ranks() const;

  const ShapeGroup& group(int shape) const { return groups_[shape]; }
  const IdleBlock& block(int number) const { return blocks_[number]; }

  /// Appends all idle jobs with priority >= min_priority, in no particular order.  O(blocks), and
  /// the jobs of those blocks that may have some.
  void append_jobs(double now, double min_priority, std::vector<PrioritisedJob>& jobs) const;

 private:
  struct JobPlace {
    int shape = -1;
    int block = -1;
    int position = -1;  // in the block
  };

  // The number of an empty block.
  int new_block();
  // Requires blocks that are less than half full: all but the last become full, in their order.
  void compact(ShapeGroup& group);

  std::vector<JobShape> shapes_;    // increasing
  std::vector<ShapeGroup> groups_;  // by shape
  std::vector<int> present_shapes_;
  std::vector<JobPlace> places_;   // by rank
  std::vector<IdleBlock> blocks_;  // those in use and the free ones
  std::vector<int> free_blocks_;   // numbers
};

}  // namespace cosched::cluster::dfrs
