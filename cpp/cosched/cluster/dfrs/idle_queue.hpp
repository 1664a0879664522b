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
#include <limits>
#include <tuple>
#include <vector>

#include "cosched/cluster/model/prefetch.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

// Some idle jobs of one shape, the order in which policies serve them, and when a block of them
// need not be looked into.
//
// Policies ask for jobs of at least some priority.  The priority (t - submit) / vt^2 of a job grows
// with the time t at a rate of its own, 1 / vt^2, so that the job on top of a block now need not be
// on top later.  A Line has two things, and they may come from two jobs: the greatest priority when
// it was found (`top`), and the greatest rate.  Three jobs, in two blocks:
//
//          submit   vt    rate   priority at 100   110   120   130
//   job 0       0    1       1               100   110   120   130   block A
//   job 1      90   0.5      4                40    80   120   160   block A
//   job 2      20    1       1                80    90   100   110   block B
//   line of A, found at 100: top 100 (job 0),
//     rate 4 (job 1)                         100   140   180   220
//   line of B, found at 100: top 80, rate 1   80    90   100   110
//
// Who has at least 150?  At 110 nobody, and both blocks are skipped by one comparison each.  At 120
// the line of A reaches 150 though no job does: it is found anew (top 120, rate 4), and A skipped
// after all.  At 130 this line says 160: A is looked into, and job 1 is found.  A line that
// followed job 0, on top when it was found, would have said 130, and lost it.

/// flow time / (virtual time)^2; infinite at zero virtual time (Casanova, Stillwell, Vivien 2011,
/// section 4.1).
inline double priority_at(double now, double submit, double virtual_time) {
  return virtual_time > 0 ? (now - submit) / (virtual_time * virtual_time) : kInfinity;
}

/// An idle (or running) job as policies compare it.
struct Prioritised {
  double priority;
  int rank;
  int shape = -1;  // its number in the queue, where it matters
};

/// The order of service: decreasing priority, ties by rank (order of submission).
struct ServedBefore {
  bool operator()(const Prioritised& a, const Prioritised& b) const {
    return a.priority != b.priority ? a.priority > b.priority : a.rank < b.rank;
  }
};

/// Served before every job.
inline constexpr Prioritised kBeforeAll{kInfinity, -1};

/// An upper bound of the priorities of some jobs, from a time on; at first of none.
struct Line {
  double since = 0, top = 0, rate = 0;

  /// Bounds whatever jobs there are, and is to be found anew before it says anything.
  static Line unknown() { return {0, kInfinity, 0}; }

  /// Above the priorities at a time >= since, even where these are quotients and the line's are
  /// products; infinite: not below.
  double at(double now) const { return (top + (now - since) * rate) * (1 + kRounding) + kTiny; }

  static constexpr double kRounding = 1e-12;  // relative
  static constexpr double kTiny = std::numeric_limits<double>::min();
};

/// Some idle jobs of one shape, in columns.
class IdleBlock {
 public:
  static constexpr int kMost = 32;

  IdleBlock();
  int jobs() const { return jobs_; }
  int rank(int position) const { return rank_[position]; }
  /// The job comes to position jobs().  Returns the line of the block, which was `line` before,
  /// raised over it.
  Line add(int rank, double submit, double virtual_time, Line line);
  /// The last job takes its position.
  void remove(int position);
  /// The last job of another block comes to position jobs().
  void take_last(IdleBlock& other);
  /// The line that touches the greatest priority at `now`.  O(kMost).
  Line line(double now) const;
  /// `jobs`, and behind them this block's of priority >= `least` that are served after `last`, in
  /// no order.
  /// O(kMost).
  std::vector<Prioritised> append(std::vector<Prioritised> jobs, double now, double least,
                                  const Prioritised& last, int shape) const;

 private:
  // Priority = (now - origin) / square; origin = -infinity at zero virtual time.  Behind the last
  // job, origin = infinity.
  double origin_[kMost], square_[kMost];
  double inverse_[kMost];  // of the square, but 1 at zero; hardly anything behind the last job
  int rank_[kMost];
  int jobs_ = 0;
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

  /// `jobs`, and behind them all idle ones of priority >= `least`, in no order.  O(blocks), and
  /// what is in those that reach it.
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
