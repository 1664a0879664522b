// Waiting and paused jobs, arranged so that an event evaluates few of them.
//
// The priority (now - submit) / (virtual time)^2 of every idle job grows with the clock, each
// at its own speed: no sorted list stays sorted, and as policies serve the greatest first,
// thousands in a long queue are nearly equal.  But an idle job's virtual time stands still, so
// its priority is a line in time.  Jobs are kept in blocks; a block remembers a bound on its
// priorities at one time and its steepest line, which bound it at any later time.  Jobs are
// sorted by priority now and then, so that the greatest are in few blocks.  Blocks are kept
// by shape (memory need, tasks): jobs of one shape find room all or none.  All shapes are
// numbered in advance: what comes and goes millions of times finds its group without a search.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "cosched/cluster/prefetch.hpp"
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
  int shape = -1;  // of an idle job: its number in the queue
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
  /// Appends the jobs of priority >= `least`.  O(blocks) and the blocks whose bound is.
  void append(double now, double least, int shape, std::vector<Prioritised>& jobs) const;

 private:
  friend class ServiceOrder;
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

/// The jobs of a group in the order of service at one time.  The group must not change meanwhile.
class ServiceOrder {
 public:
  /// O(blocks).
  ServiceOrder(const IdleGroup& group, double now);
  bool done() const { return blocks_.empty(); }
  /// Not done.
  Prioritised first() const { return {blocks_.front().priority, blocks_.front().rank}; }
  /// The next one is first.  O(log blocks); each block is looked into once, when its bound is not
  /// below the first job's priority.
  void advance();
  /// When the first ones have left the group: bounds without them, for later searches.
  void tighten_bounds() const;

 private:
  struct Block {
    double priority;   // of its first job; a bound where it has not been looked into
    int rank;          // of that job; -1 where the block has not been looked into
    int number, seen;  // in the group; among those looked into
    bool operator<(const Block& other) const {
      return priority != other.priority ? priority < other.priority : rank > other.rank;
    }
  };
  void look_into(Block& block);
  bool find_first(Block& block);
  void settle();

  const IdleGroup* group_;
  double now_;
  std::vector<Block> blocks_;     // heap, the first on top: one that has been looked into
  std::vector<int> seen_;         // numbers of blocks
  std::vector<double> priority_;  // of the jobs of each of those; those that were first: gone
};

class IdleQueue {
 public:
  struct Shape {
    std::int64_t memory_need;  // of a task
    int tasks;
    double memory;  // of a task: needs are rounded
    bool operator<(const Shape& other) const {
      return std::tie(memory_need, tasks, memory) <
             std::tie(other.memory_need, other.tasks, other.memory);
    }
    bool operator==(const Shape& other) const { return !(*this < other) && !(other < *this); }
  };

  /// For jobs of these shapes, by rank.  O(jobs log jobs).
  explicit IdleQueue(const std::vector<Shape>& shapes);

  /// O(log jobs), amortised, and O(shapes present) for the first of a shape.  `now` never
  /// decreases.
  void add(int rank, double submit, double virtual_time, double now);
  /// O(1), and O(shapes present) for the last of a shape.
  void remove(int rank, double now);
  /// remove(rank) is soon to come.
  void expect(int rank) const { prefetch(&places_[rank]); }

  /// The numbers of the shapes that some idle job has: by increasing memory need.
  const std::vector<int>& present() const { return present_; }
  const Shape& shape(int number) const { return shapes_[number]; }
  const IdleGroup& group(int number) const { return groups_[number]; }

 private:
  struct Place {
    int shape = -1, position = -1;  // number; in its group
  };
  std::vector<Shape> shapes_;      // increasing
  std::vector<IdleGroup> groups_;  // by shape
  std::vector<int> present_;
  std::vector<Place> places_;  // by rank
};

}  // namespace cosched::cluster
