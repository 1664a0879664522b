// Some idle jobs of one shape, the order in which policies serve them, and when a block of them need
// not be looked into.
//
// Policies ask for jobs of at least some priority.  The priority (t - submit) / vt^2 of a job grows
// with the time t at a rate of its own, 1 / vt^2, so that the job on top of a block now need not be on
// top later.  A Line has two things, and they may come from two jobs: the greatest priority when it
// was found (`top`), and the greatest rate.  Three jobs, in two blocks:
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
// the line of A reaches 150 though no job does: it is found anew (top 120, rate 4), and A skipped after
// all.  At 130 this line says 160: A is looked into, and job 1 is found.  A line that followed job 0, on
// top when it was found, would have said 130, and lost it.
#pragma once

#include <limits>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

/// flow time / (virtual time)^2; infinite at zero virtual time (Casanova, Stillwell, Vivien 2011, section 4.1).
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
  /// The job comes to position jobs().  Returns the line of the block, which was `line` before, raised over it.
  Line add(int rank, double submit, double virtual_time, Line line);
  /// The last job takes its position.
  void remove(int position);
  /// The last job of another block comes to position jobs().
  void take_last(IdleBlock& other);
  /// The line that touches the greatest priority at `now`.  O(kMost).
  Line line(double now) const;
  /// `jobs`, and behind them this block's of priority >= `least` that are served after `last`, in no order.
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

}  // namespace cosched::cluster::dfrs
