// Transportation of jobs' work to consecutive intervals: a max-flow whose edges are implicit
// (job i to every interval of its window).  Its memory is that of its edges, so it is built
// only for the intervals where the greedy fill left something undone.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::bound {

// A greedy fill of consecutive intervals with jobs' work, from left to right.

/// Job i needs need[i] = rate[i] x seconds in intervals first[i] .. last[i]-1, at most
/// rate[i] x length[t] in interval t; interval t has room[t] for all.
struct IntervalWork {
  std::vector<double> length, room;  // by interval: seconds, node seconds
  std::vector<int> first, last;      // by job
  std::vector<double> rate, need;    // by job: nodes, node seconds
};

/// A need below this is rounding.
inline double need_rounding(double need) { return need * 1e-12; }

/// The job has `speed` nodes in the intervals begin .. end-1; there may be several of one.
struct Run {
  int job, begin, end;
  double speed;
};

struct Filled {
  std::vector<double> left;  // by job: what it still needs
  std::vector<Run> runs;
};

/// In each interval what must run now (what a job could not get later), then by deadline.
/// O(jobs that run, summed over intervals + n log n) time; memory for the runs.
Filled fill(const IntervalWork& work);

/// Max-flow from a given state.
class IntervalFlow {
 public:
  /// `work` with its original needs and rooms; nothing is placed yet.
  explicit IntervalFlow(IntervalWork work);

  void place(int job, int interval, double amount);
  /// The job gets this elsewhere.
  void serve(int job, double amount) { work_.need[job] -= amount; }
  /// Blocking flows (Dinic) until no unserved work can be moved.  O(edges) a phase.
  void augment();
  /// Node seconds that found no place.
  double unserved() const;
  /// After augment(): intervals that the unserved jobs can reach; all of them are full, and
  /// every job that could use another interval more already does.
  std::vector<char> cut() const;
  /// After augment(): whether an unserved job can reach the job (by moving its work).
  bool reached(int job) const { return job_level_[job] >= 0; }

 private:
  double& flow(int job, int interval) { return flow_[begin_[job] + interval - work_.first[job]]; }
  double flow(int job, int interval) const {
    return flow_[begin_[job] + interval - work_.first[job]];
  }
  double capacity(int job, int interval) const { return work_.rate[job] * work_.length[interval]; }
  void add(int job, int interval, double amount);
  bool levels();
  bool reach_intervals(const std::vector<int>& jobs, int level, std::vector<int>& intervals);
  void reach_jobs(const std::vector<int>& intervals, int level, std::vector<int>& jobs);
  double push(int job, double amount);
  double push_through(int interval, double amount, int level);

  int jobs_, intervals_;
  IntervalWork work_;                    // need and room: what is left
  std::vector<std::int64_t> begin_;      // of the job's edges
  std::vector<double> flow_;             // node seconds, by edge
  std::vector<std::vector<int>> users_;  // by interval: jobs that have or had something of it
  std::vector<double> eps_;              // by interval: below this an amount is rounding
  std::vector<double> need_eps_;         // by job
  std::vector<int> job_level_, interval_level_;
  std::vector<int> job_next_;       // current edge of the blocking flow
  std::vector<int> interval_next_;  // the user to look at next, or one before it
  Poll poll_;
};

}  // namespace cosched::cluster::bound
