// Waiting and paused jobs, arranged so that an event looks closely at few of them.
//
// The priority (now - submit) / (virtual time)^2 of every idle job grows with the clock, each
// at its own speed: no sorted list stays sorted, and as policies serve the greatest first,
// thousands in a long queue are nearly equal.  Jobs are kept by shape (memory need, tasks): jobs
// of one shape find room all or none, so those of a shape without room are not looked at.  Within
// a shape they are in blocks, in columns: the greatest priority of a block takes one multiplication
// a job, and only blocks that may hold one of the jobs wanted are looked into.  All shapes are
// numbered in advance: what comes and goes millions of times finds its group without a search.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// Idle jobs of one shape, in blocks.
class IdleGroup {
 public:
  static constexpr int kBlock = 32;

  bool empty() const { return rank_.empty(); }
  const std::vector<int>& ranks() const { return rank_; }
  void add(int rank, double submit, double virtual_time);
  /// The last job takes its position.
  void remove(int position);

  int blocks() const { return static_cast<int>(origin_.size()) / kBlock; }
  /// Above the priorities of the block's jobs, by rounding only (infinite: not below).  O(kBlock).
  double above(int block, double now) const;
  /// Appends the block's jobs of priority >= `least` that are served after `last`.  O(kBlock).
  void append(int block, double now, double least, const Prioritised& last, int shape,
              std::vector<Prioritised>& jobs) const;

 private:
  // Priority = (now - origin) / square; origin = -infinity at zero virtual time.  Columns of whole
  // blocks: behind the last job, origin = infinity.
  std::vector<double> origin_, square_;
  std::vector<double> inverse_;  // of the square, but 1 at zero
  std::vector<int> rank_;
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

  /// O(1), amortised, and O(shapes present) for the first of a shape.
  void add(int rank, double submit, double virtual_time);
  /// O(1), and O(shapes present) for the last of a shape.
  void remove(int rank);
  /// remove(rank) is soon to come.
  void expect(int rank) const { prefetch(&places_[rank]); }

  /// The numbers of the shapes that some idle job has: by increasing memory need.
  const std::vector<int>& present() const { return present_; }
  int shapes() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int number) const { return shapes_[number]; }
  const IdleGroup& group(int number) const { return groups_[number]; }
  /// Appends the jobs of priority >= `least`.  O(idle jobs), a multiplication each.
  void append(double now, double least, std::vector<Prioritised>& jobs) const;

 private:
  struct Place {
    int shape = -1, position = -1;  // number; in its group
  };
  std::vector<Shape> shapes_;      // increasing
  std::vector<IdleGroup> groups_;  // by shape
  std::vector<int> present_;
  std::vector<Place> places_;  // by rank
};

/// The jobs of some shapes in the order of service at one time, a part after the other.  The queue
/// must not change meanwhile.
class ServiceOrder {
 public:
  ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now);
  /// Whether next() has given all.
  bool done() const { return blocks_.empty(); }
  /// The jobs that follow those given before; maybe none.  Valid until the next call.
  const std::vector<Prioritised>& next();
  /// Jobs of shapes for which `wanted` is false are not needed any more.
  template <class Wanted>
  void keep(const Wanted& wanted);

 private:
  struct Block {
    double above;  // its jobs' priorities
    int shape, number;
  };
  double choose_part();

  const IdleQueue& queue_;
  double now_;
  std::vector<Block> blocks_;
  std::size_t part_ = 0;  // blocks that the last part looked into
  Prioritised last_{kInfinity, -1};
  std::vector<Prioritised> jobs_;
};

template <class Wanted>
void ServiceOrder::keep(const Wanted& wanted) {
  const auto unwanted = [&](const Block& block) { return !wanted(block.shape); };
  blocks_.erase(std::remove_if(blocks_.begin(), blocks_.end(), unwanted), blocks_.end());
}

}  // namespace cosched::cluster
