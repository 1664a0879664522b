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

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
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

  IdleBlock() {
    std::fill_n(origin_, kMost, kInfinity);
    std::fill_n(inverse_, kMost, Line::kTiny);
  }

  int jobs() const { return jobs_; }
  int rank(int position) const { return rank_[position]; }
  /// The job comes to position jobs().  Returns the line of the block, which was `line` before,
  /// raised over it.
  Line add(int rank, double submit, double virtual_time, Line line) {
    const double square = virtual_time * virtual_time;
    const double inverse = virtual_time > 0 ? 1 / square : 1;
    const double origin = virtual_time > 0 ? submit : -kInfinity;
    if (jobs_ == 0) line = {submit, 0, 0};
    line.top = std::max(line.top, (line.since - origin) * inverse);
    line.rate = std::max(line.rate, inverse);
    rank_[jobs_] = rank;
    origin_[jobs_] = origin;
    square_[jobs_] = square;
    inverse_[jobs_] = inverse;
    ++jobs_;
    return line;
  }

  /// The last job takes its position.
  void remove(int position) {
    const int last = --jobs_;
    rank_[position] = rank_[last];
    origin_[position] = origin_[last];
    square_[position] = square_[last];
    inverse_[position] = inverse_[last];
    origin_[last] = kInfinity;
    inverse_[last] = Line::kTiny;
  }

  /// The last job of another block comes to position jobs().
  void take_last(IdleBlock& other) {
    const int from = other.jobs_ - 1;
    rank_[jobs_] = other.rank_[from];
    origin_[jobs_] = other.origin_[from];
    square_[jobs_] = other.square_[from];
    inverse_[jobs_] = other.inverse_[from];
    ++jobs_;
    other.remove(from);
  }

  /// The line that touches the greatest priority at `now`.  O(kMost).
  Line line(double now) const {
    // Lanes: a single running maximum would wait for itself at each step.
    constexpr int kLanes = 8;
    double top[kLanes], rate[kLanes];
    std::fill_n(top, kLanes, 0.0);
    std::fill_n(rate, kLanes, 0.0);
    for (int k = 0; k < kMost; k += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) {
        top[lane] = std::max(top[lane], (now - origin_[k + lane]) * inverse_[k + lane]);
        rate[lane] = std::max(rate[lane], inverse_[k + lane]);
      }
    // Which lane is greatest is hard to foresee, for a processor too: no branch depends on it.
    const auto greatest = [](const double* of) {
      const auto of_two = [of](int lane) { return std::max(of[lane], of[lane + 1]); };
      return std::max(std::max(of_two(0), of_two(2)), std::max(of_two(4), of_two(6)));
    };
    return {now, greatest(top), greatest(rate)};
  }

  /// `jobs`, and behind them this block's of priority >= `least` that are served after `last`, in
  /// no order.
  /// O(kMost).
  std::vector<Prioritised> append(std::vector<Prioritised> jobs, double now, double least,
                                  const Prioritised& last, int shape) const {
    double about[kMost];
    for (int k = 0; k < kMost; ++k) about[k] = (now - origin_[k]) * inverse_[k];
    // Nor which ones are high.
    const double enough = least * (1 - Line::kRounding);
    int high[kMost], found = 0;
    for (int k = 0; k < kMost; ++k) {
      high[found] = k;
      found += about[k] >= enough;
    }
    for (int h = 0; h < found; ++h) {
      const int k = high[h];
      const Prioritised job{(now - origin_[k]) / square_[k], rank_[k], shape};
      if (job.priority >= least && ServedBefore()(last, job)) jobs.push_back(job);
    }
    return jobs;
  }

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
  explicit IdleQueue(const std::vector<Shape>& shapes) : shapes_(shapes), places_(shapes.size()) {
    std::sort(shapes_.begin(), shapes_.end());
    shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
    groups_.resize(shapes_.size());
    for (std::size_t rank = 0; rank < shapes.size(); ++rank)
      places_[rank].shape = static_cast<int>(
          std::lower_bound(shapes_.begin(), shapes_.end(), shapes[rank]) - shapes_.begin());
  }

  /// O(1), amortised, and O(shapes present) for the first of a shape.
  void add(int rank, double submit, double virtual_time) {
    Place& place = places_[rank];
    Group& group = groups_[place.shape];
    if (group.jobs == 0)
      present_.insert(std::lower_bound(present_.begin(), present_.end(), place.shape), place.shape);
    if (group.blocks.empty() || blocks_[group.blocks.back()].jobs() == IdleBlock::kMost) {
      if (group.blocks.size() > 4 + static_cast<std::size_t>(group.jobs) / (IdleBlock::kMost / 2))
        compact(group);
      group.blocks.push_back(new_block());
      group.lines.push_back({});
    }
    ++group.jobs;
    place.block = group.blocks.back();
    place.position = blocks_[place.block].jobs();
    Line& line = group.lines.back();
    line = blocks_[place.block].add(rank, submit, virtual_time, line);
  }

  /// O(1), O(blocks of the shape) for the last of a block, O(shapes present) for that of a shape.
  void remove(int rank) {
    const Place place = places_[rank];
    IdleBlock& block = blocks_[place.block];
    places_[block.rank(block.jobs() - 1)].position = place.position;
    block.remove(place.position);
    Group& group = groups_[place.shape];
    if (block.jobs() == 0) {
      const auto at = std::find(group.blocks.begin(), group.blocks.end(), place.block);
      group.lines.erase(group.lines.begin() + (at - group.blocks.begin()));
      group.blocks.erase(at);
      unused_.push_back(place.block);
    }
    if (--group.jobs == 0)
      present_.erase(std::lower_bound(present_.begin(), present_.end(), place.shape));
  }

  /// remove(rank) is soon to come.
  void expect(int rank) const { prefetch(&places_[rank]); }

  /// The numbers of the shapes that some idle job has: by increasing memory need.
  const std::vector<int>& present() const { return present_; }
  int shapes() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int number) const { return shapes_[number]; }
  /// The number of a job's shape, be it idle or not.
  int shape_of(int rank) const { return places_[rank].shape; }
  /// All idle jobs, increasing.
  std::vector<int> ranks() const {
    std::vector<int> ranks;
    for (const int shape : present_)
      for (const int number : groups_[shape].blocks)
        for (int k = 0; k < blocks_[number].jobs(); ++k) ranks.push_back(blocks_[number].rank(k));
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

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
  std::vector<Prioritised> append(std::vector<Prioritised> jobs, double now, double least) const {
    for (const int shape : present_) {
      const Group& group = groups_[shape];
      for (std::size_t k = 0; k < group.blocks.size(); ++k) {
        Line& line = group.lines[k];
        if (line.at(now) < least) continue;
        const IdleBlock& block = blocks_[group.blocks[k]];
        line = block.line(now);
        if (line.at(now) >= least)
          jobs = block.append(std::move(jobs), now, least, kBeforeAll, shape);
      }
    }
    return jobs;
  }

 private:
  struct Place {
    int shape = -1, block = -1, position = -1;  // numbers; in the block
  };
  // An empty one.
  int new_block() {
    if (unused_.empty()) {
      unused_.push_back(static_cast<int>(blocks_.size()));
      blocks_.emplace_back();
    }
    const int number = unused_.back();
    unused_.pop_back();
    return number;
  }

  // Its blocks are less than half full: all but the last become full, in their order.
  void compact(Group& group) {
    std::size_t filled = 0;
    for (std::size_t k = 1; k < group.blocks.size(); ++k)
      while (filled < k && blocks_[group.blocks[k]].jobs() > 0) {
        IdleBlock &from = blocks_[group.blocks[k]], &to = blocks_[group.blocks[filled]];
        if (to.jobs() == IdleBlock::kMost) {
          ++filled;
          continue;
        }
        Place& place = places_[from.rank(from.jobs() - 1)];
        place.block = group.blocks[filled];
        place.position = to.jobs();
        to.take_last(from);
      }
    std::vector<int> kept;
    for (const int number : group.blocks)
      (blocks_[number].jobs() == 0 ? unused_ : kept).push_back(number);
    group.blocks = std::move(kept);
    group.lines.assign(group.blocks.size(), Line::unknown());
  }

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
  ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now)
      : queue_(queue), now_(now) {
    std::size_t blocks = 0;
    for (const int shape : shapes) blocks += queue.group(shape).blocks.size();
    closed_.reserve(blocks);
    for (const int shape : shapes) {
      const IdleQueue::Group& group = queue.group(shape);
      for (std::size_t k = 0; k < group.blocks.size(); ++k)
        closed_.push_back({group.lines[k].at(now), shape, group.blocks[k], &group.lines[k]});
    }
  }

  /// Whether next() has given all.
  bool done() const { return open_.empty() && closed_.empty(); }
  /// The jobs that follow those given before; maybe none.  Valid until the next call.
  const std::vector<Prioritised>& next() {
    jobs_.clear();
    const double least = open_blocks();
    for (const Block& block : open_)
      jobs_ = queue_.block(block.number).append(std::move(jobs_), now_, least, last_, block.shape);
    if (closed_.empty()) open_.clear();
    std::sort(jobs_.begin(), jobs_.end(), ServedBefore());
    if (!jobs_.empty()) last_ = jobs_.back();
    return jobs_;
  }

  /// Jobs of shapes for which `wanted` is false are not needed any more.
  template <class Wanted>
  void keep(const Wanted& wanted);

 private:
  static constexpr std::size_t kFirstPart = 8;  // blocks that the first part of an order looks into
  static constexpr std::size_t kLikely = 3;     // times as many get a new line before

  struct Block {
    double above;  // its jobs' priorities
    int shape, number;
    // Which `above` comes from; null: it was found at now_, and is above by rounding only.
    Line* line;
  };
  struct Lower {
    bool operator()(const Block& a, const Block& b) const { return a.above < b.above; }
  };
  using Blocks = std::vector<Block>::iterator;
  // Moves the greatest of them to the end, `count` or all; returns their begin.
  static Blocks greatest(Blocks first, Blocks last, std::size_t count) {
    if (static_cast<std::size_t>(last - first) <= count) return first;
    const Blocks begin = last - static_cast<std::ptrdiff_t>(count);
    std::nth_element(first, begin, last, Lower());
    return begin;
  }

  // Opens blocks of the greatest priorities, about as many as are open.  Returns a priority that no
  // job of the closed ones reaches.
  double open_blocks() {
    const auto infinite = static_cast<std::size_t>(
        std::count_if(closed_.begin(), closed_.end(),
                      [](const Block& block) { return block.above == kInfinity; }));
    const std::size_t count = std::max({kFirstPart, open_.size(), infinite});
    // Lines lie higher than what they bound: more blocks than wanted are looked at.
    const auto likely = greatest(closed_.begin(), closed_.end(), kLikely * count);
    double least = likely == closed_.begin() ? 0 : likely->above;
    for (auto block = likely; block != closed_.end(); ++block) {
      if (block->line == nullptr) continue;
      *block->line = queue_.block(block->number).line(now_);
      block->above = block->line->at(now_);
      block->line = nullptr;
    }
    const auto opened = greatest(likely, closed_.end(), count);
    if (opened != likely) least = std::max(least, opened->above);
    open_.insert(open_.end(), opened, closed_.end());
    closed_.erase(opened, closed_.end());
    return least;
  }

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
