// Waiting and paused jobs, arranged so that an event evaluates few of them.
//
// The priority (now - submit) / (virtual time)^2 of every idle job grows with the clock, each
// at its own speed: no sorted list stays sorted, and as policies serve the greatest first,
// thousands in a long queue are nearly equal.  But an idle job's virtual time stands still, so
// its priority is a line in time.  Jobs are kept in blocks; a block remembers a bound on its
// priorities at one time and its steepest line, which bound it at any later time.  Jobs are
// sorted by priority now and then, so that the greatest are in few blocks.  Blocks are kept
// by shape (memory need, tasks): jobs of one shape find room all or none.
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
  void add(int rank, double submit, double virtual_time, double now);
  /// The last job takes its position.
  void remove(int position, double now);
  /// Whether so many have come and gone since the last sort() that the next one is paid for.
  bool mixed() const;
  /// By decreasing priority.
  void sort(double now);
  /// The job that is first in the order of service.  Not empty.  O(blocks) and the jobs of
  /// the few blocks whose bound is not below the result.
  Prioritised first(double now) const;
  /// Appends the jobs of priority >= `least`.  O(blocks) and the blocks whose bound is.
  void append(double now, double least, std::vector<Prioritised>& jobs) const;

 private:
  // priority(t) <= top + (t - time) steepest, for each of its jobs.
  struct Block {
    double time = 0, top = -kInfinity, steepest = 0;
    double bound(double now) const { return (top + (now - time) * steepest) * (1 + 1e-9); }
  };
  double priority(int position, double now) const {
    return (now - origin_[position]) / square_[position];
  }
  void raise_bound(int position, double now);
  const double* look_into(std::size_t block, double now) const;
  int size() const { return static_cast<int>(rank_.size()); }

  // Priority = (now - origin) / square; origin = -infinity at zero virtual time.
  std::vector<double> origin_, square_;
  std::vector<int> rank_;
  int changes_ = 0;                       // since the last sort()
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

  /// O(log shapes + log jobs), amortised.  `now` never decreases.
  void add(const Shape& shape, int rank, double submit, double virtual_time, double now);
  /// O(log shapes).
  void remove(const Shape& shape, int rank, double now);

  /// By increasing memory need; none empty.
  const std::map<Shape, IdleGroup>& groups() const { return groups_; }

 private:
  std::map<Shape, IdleGroup> groups_;
  std::vector<int> at_;  // by rank: position in its group
};

}  // namespace cosched::cluster
