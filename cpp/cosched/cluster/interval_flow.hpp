// Transportation of jobs' work to consecutive intervals: a max-flow whose edges are
// implicit (job i to every interval of its window).
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::cluster {

class IntervalFlow {
 public:
  /// Job i needs left[i] seconds in intervals first[i] .. last[i]-1, at most length[t] in
  /// interval t; the sum of rate[i] x seconds in t is at most nodes x length[t].
  IntervalFlow(std::vector<double> length, double nodes, std::vector<int> first,
               std::vector<int> last, std::vector<double> left, std::vector<double> rate);

  /// Intervals from left to right: what must run now, then by deadline.  O(edges + n log n).
  void fill();
  /// Blocking flows (Dinic) until no unserved work can be moved.  O(edges) a phase.
  void augment();
  /// Node seconds that found no place.
  double unserved() const;
  /// After augment(): intervals that the unserved jobs can reach; all of them are full, and
  /// every job that could use another interval more already does.
  std::vector<char> cut() const;

 private:
  double& flow(int job, int interval) { return flow_[begin_[job] + interval - first_[job]]; }
  double flow(int job, int interval) const { return flow_[begin_[job] + interval - first_[job]]; }
  double capacity(int job, int interval) const { return rate_[job] * length_[interval]; }
  bool levels();
  double push(int job, double amount);
  double push_through(int interval, double amount, int level);

  int jobs_, intervals_;
  std::vector<double> length_;
  std::vector<int> first_, last_;
  std::vector<double> rate_;
  std::vector<double> need_;               // node seconds still unserved, by job
  std::vector<double> room_;               // node seconds still unused, by interval
  std::vector<std::int64_t> begin_;        // of the job's edges
  std::vector<double> flow_;               // node seconds, by edge
  std::vector<std::int64_t> alive_begin_;  // by interval
  std::vector<int> alive_;                 // jobs whose window contains the interval
  std::vector<double> eps_;                // by interval: below this an amount is rounding
  std::vector<double> need_eps_;           // by job
  std::vector<int> job_level_, interval_level_;
  std::vector<int> job_next_;  // current edge of the blocking flow
  std::vector<std::int64_t> interval_next_;
};

}  // namespace cosched::cluster
