// Waiting and paused jobs, arranged so that an event looks closely at few of them.
//
// The priority (now - submit) / (virtual time)^2 of every idle job grows with the clock, each
// at its own speed: no sorted list stays sorted, and as policies serve the greatest first,
// thousands in a long queue are nearly equal.  Jobs are kept by shape (memory need, tasks): jobs
// of one shape find room all or none, so those of a shape without room are not looked at.  Within
// a shape they are in blocks, those that came at about the same time together: they ran last at
// about the same time, and are wanted again at about the same time.  A line, found now and then,
// bounds the greatest priority of a block while the clock goes on; only blocks whose line reaches
// the jobs wanted are looked into, in columns, a multiplication a job.  All shapes are numbered in
// advance: what comes and goes millions of times finds its group without a search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "cosched/cluster/dfrs/idle_block.hpp"
#include "cosched/cluster/model/prefetch.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

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
  /// O(1), O(blocks of the shape) for the last of a block, O(shapes present) for that of a shape.
  void remove(int rank);
  /// remove(rank) is soon to come.
  void expect(int rank) const { prefetch(&places_[rank]); }

  /// The numbers of the shapes that some idle job has: by increasing memory need.
  const std::vector<int>& present() const { return present_; }
  int shapes() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int number) const { return shapes_[number]; }
  /// The number of a job's shape, be it idle or not.
  int shape_of(int rank) const { return places_[rank].shape; }
  /// All idle jobs, increasing.
  std::vector<int> ranks() const;

  /// The jobs of a shape, in blocks.
  struct Group {
    std::vector<int> blocks;  // numbers; none is empty; jobs are added to the last
    // Of the blocks.  Whoever looks finds a line anew where the old one has risen too far: what the
    // queue holds, and every answer, stay the same.
    mutable std::vector<Line> lines;
    int jobs = 0;
  };
  const Group& group(int shape) const { return groups_[shape]; }
  const IdleBlock& block(int number) const { return blocks_[number]; }

  /// `jobs`, and behind them all idle ones of priority >= `least`, in no order.  O(blocks), and what is in
  /// those that reach it.
  std::vector<Prioritised> append(std::vector<Prioritised> jobs, double now, double least) const;

 private:
  struct Place {
    int shape = -1, block = -1, position = -1;  // numbers; in the block
  };
  int new_block();
  void compact(Group& group);

  std::vector<Shape> shapes_;  // increasing
  std::vector<Group> groups_;  // by shape
  std::vector<int> present_;
  std::vector<Place> places_;      // by rank
  std::vector<IdleBlock> blocks_;  // and the unused
  std::vector<int> unused_;        // numbers
};

/// The jobs of some shapes in the order of service at one time, a part after the other.  The queue
/// must not change meanwhile.
class ServiceOrder {
 public:
  ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now);
  /// Whether next() has given all.
  bool done() const { return open_.empty() && closed_.empty(); }
  /// The jobs that follow those given before; maybe none.  Valid until the next call.
  const std::vector<Prioritised>& next();
  /// Jobs of shapes for which `wanted` is false are not needed any more.
  template <class Wanted>
  void keep(const Wanted& wanted);

 private:
  struct Block {
    double above;  // its jobs' priorities
    int shape, number;
    Line*
        line;  // which `above` comes from; null: it was found at now_, and is above by rounding only
  };
  struct Lower {
    bool operator()(const Block& a, const Block& b) const { return a.above < b.above; }
  };
  using Blocks = std::vector<Block>::iterator;
  static Blocks greatest(Blocks first, Blocks last, std::size_t count);
  double open_blocks();

  const IdleQueue& queue_;
  double now_;
  std::vector<Block> open_, closed_;  // looked into, or not
  Prioritised last_ = kBeforeAll;     // that next() gave
  std::vector<Prioritised> jobs_;
};

template <class Wanted>
void ServiceOrder::keep(const Wanted& wanted) {
  const auto unwanted = [&](const Block& block) { return !wanted(block.shape); };
  open_.erase(std::remove_if(open_.begin(), open_.end(), unwanted), open_.end());
  closed_.erase(std::remove_if(closed_.begin(), closed_.end(), unwanted), closed_.end());
}

}  // namespace cosched::cluster::dfrs
