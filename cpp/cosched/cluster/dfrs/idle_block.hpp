// Some idle jobs of one shape, and the order in which policies serve them.
#pragma once

#include <limits>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

/// flow time / (virtual time)^2; infinite at zero virtual time (Casanova, Stillwell, Vivien 2011, section 4.1).
inline double priority_at(double now, double submit, double virtual_time) {
  return virtual_time > 0 ? (now - submit) / (virtual_time * virtual_time) : kInfinity;
}

/// Order of service: decreasing priority, ties by rank (order of submission).
struct Prioritised {
  double priority;
  int rank;
  int shape = -1;  // its number in the queue, where it matters
  bool operator<(const Prioritised& other) const {
    return priority != other.priority ? priority > other.priority : rank < other.rank;
  }
};

/// An upper bound of the priorities of some jobs, from a time on.
struct Line {
  double since, top, rate;

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
  /// The job comes to position jobs(); `line`, the block's, rises over it.
  void add(int rank, double submit, double virtual_time, Line& line);
  /// The last job takes its position.
  void remove(int position);
  /// The last job of another block comes to position jobs().
  void take_last(IdleBlock& other);
  /// The line that touches the greatest priority at `now`.  O(kMost).
  Line line(double now) const;
  /// Appends the jobs of priority >= `least` that are served after `last`.  O(kMost).
  void append(double now, double least, const Prioritised& last, int shape,
              std::vector<Prioritised>& jobs) const;

 private:
  // Priority = (now - origin) / square; origin = -infinity at zero virtual time.  Behind the last
  // job, origin = infinity.
  double origin_[kMost], square_[kMost];
  double inverse_[kMost];  // of the square, but 1 at zero; hardly anything behind the last job
  int rank_[kMost];
  int jobs_ = 0;
};

}  // namespace cosched::cluster::dfrs
