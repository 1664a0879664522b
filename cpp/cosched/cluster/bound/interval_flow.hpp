// Transportation of jobs' work to consecutive intervals.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/bound/interval_work.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::bound {

/// A max-flow from a given state.  Its edges (job i to every interval of its window) are implicit.
/// Its memory is that of the edges, so it is built only for the intervals where the greedy fill
/// left something unserved.
class IntervalFlow {
 public:
  /// `work` with its original needs and rooms; no work is placed yet.
  explicit IntervalFlow(IntervalWork work);

  /// The job does this amount of its work in the interval.
  void place(int job, int interval, double amount);
  /// The job does this amount of its work in intervals that are not part of the flow.
  void serve_elsewhere(int job, double amount) { work_.need[job] -= amount; }

  /// Blocking flows (Dinic) until no unserved work can be placed.  O(edges) a phase.
  void augment();

  /// Node seconds that have not been placed.
  double unserved() const;
  /// After augment(): by interval, whether the unserved jobs can reach it.  All of these intervals
  /// are full, and every job that could use another interval more already does.
  std::vector<char> reached_intervals() const;
  /// After augment(): whether an unserved job can reach the job (by moving its work).
  bool is_reached(int job) const { return job_level_[job] >= 0; }

 private:
  double& flow(int job, int interval) { return flow_[begin_[job] + interval - work_.first[job]]; }
  double flow(int job, int interval) const {
    return flow_[begin_[job] + interval - work_.first[job]];
  }
  double capacity(int job, int interval) const { return work_.rate[job] * work_.length[interval]; }
  void add_flow(int job, int interval, double amount);

  // Computes breadth-first levels from the unserved jobs.  Returns whether an interval with room is
  // reached.
  bool compute_levels();
  // Collects the intervals of this level: those where a job of the last level can run longer.
  // Returns whether one of them has room.
  bool reach_intervals(const std::vector<int>& jobs, int level, std::vector<int>& intervals);
  // Collects the jobs of this level: those that would leave an interval of the last level.
  void reach_jobs(const std::vector<int>& intervals, int level, std::vector<int>& jobs);
  // Sends up to `amount` more of the job's work along level edges; returns what was sent.
  double push(int job, double amount);
  // Makes room for up to `amount` in the interval: free room, or other jobs' work moved on.
  double push_through(int interval, double amount, int level);

  int job_count_;
  int interval_count_;
  IntervalWork work_;                // need: unserved; room: free
  std::vector<std::int64_t> begin_;  // by job: its first edge
  std::vector<double> flow_;         // by edge: node seconds
  std::vector<std::vector<int>>
      users_;                          // by interval: jobs that have or had some of it, increasing
  std::vector<double> rounding_;       // by interval: a smaller amount is rounding
  std::vector<double> need_rounding_;  // by job
  std::vector<int> job_level_;
  std::vector<int> interval_level_;
  std::vector<int> job_next_;       // by job: current edge of the blocking flow
  std::vector<int> interval_next_;  // by interval: its next user is not below this number
  Poll poll_;
};

}  // namespace cosched::cluster::bound
