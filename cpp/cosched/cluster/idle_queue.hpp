// Waiting and paused jobs, arranged so that an event evaluates few of them.
//
// The priority (now - submit) / (virtual time)^2 of every idle job grows with the clock, each
// at its own speed: no sorted list stays sorted, and as policies serve the greatest first,
// thousands in a long queue are nearly equal.  But an idle job's virtual time stands still, so
// its priority is a line in time.  Jobs are kept in blocks; a block remembers its greatest
// priority and steepest line when it was last looked into, which bounds it at any later
// time.  Blocks are kept by shape (memory need, tasks): jobs of one shape find room all or none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster {

/// flow time / (virtual time)^2; infinite at zero virtual time (paper 3, section 4.1).
inline double priority_at(double now, double submit, double virtual_time) {
  return virtual_time > 0 ? (now - submit) / (virtual_time * virtual_time) : kInfinity;
}

/// Order of service: decreasing priority, ties by rank (order of submission).
struct Prioritised {
  double priority;
  int rank;
  bool operator<(const Prioritised& other) const {
    return priority != other.priority ? priority > other.priority : rank < other.rank;
  }
};

/// Idle jobs of one shape.
class IdleGroup {
 public:
  bool empty() const { return rank_.empty(); }
  const std::vector<int>& ranks() const { return rank_; }
  void add(int rank, double submit, double virtual_time);
  /// The last job takes its position.
  void remove(int position);
  /// The job that is first in the order of service.  Not empty.  O(blocks) and the jobs of
  /// the few blocks whose bound is not below the result.
  Prioritised first(double now) const;
  /// Appends the jobs of priority >= `least`.  O(blocks) and the blocks whose bound is.
  void append(double now, double least, std::vector<Prioritised>& jobs) const;

 private:
  // priority(t) <= top + (t - time) steepest, for each of its jobs.
  struct Block {
    double time = 0, top = kInfinity, steepest = 0;
    double bound(double now) const { return (top + (now - time) * steepest) * (1 + 1e-9); }
  };
  const double* look_into(std::size_t block, double now) const;
  int size() const { return static_cast<int>(rank_.size()); }

  // Priority = (now - origin) / square; origin = -infinity at zero virtual time.
  std::vector<double> origin_, square_;
  std::vector<int> rank_;
  mutable std::vector<Block> blocks_;     // what is known, not what is
  mutable std::vector<double> priority_;  // of the jobs of one block: scratch
};

class IdleQueue {
 public:
  struct Shape {
    std::int64_t memory_need;  // of a task
    int tasks;
    bool operator<(const Shape& other) const {
      return memory_need != other.memory_need ? memory_need < other.memory_need
                                              : tasks < other.tasks;
    }
  };

  explicit IdleQueue(int jobs) : at_(jobs, -1) {}

  /// O(log shapes).
  void add(const Shape& shape, int rank, double submit, double virtual_time);
  void remove(const Shape& shape, int rank);

  /// By increasing memory need; none empty.
  const std::map<Shape, IdleGroup>& groups() const { return groups_; }

 private:
  std::map<Shape, IdleGroup> groups_;
  std::vector<int> at_;  // by rank: position in its group
};

}  // namespace cosched::cluster
