// Jobs side by side over time, each on a count that is decided.
#pragma once

#include <algorithm>
#include <vector>

#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::shared {

/// What running jobs leave free and how they slow each other: a simulation step by step, in states that are copied
/// where memory is kept.
class SideBySide {
 public:
  struct Count {
    int procs;
    double time, load;
  };
  struct Member {
    double left, pairs, done;  // done: where so little is left, it ends
    int job, procs;
  };
  struct State {
    double now = 0, ends = 0, load = 0;  // ends: the sum of those so far
    int free = 0, size = 0;
    std::vector<Member> running;  // the first `size`; memory is kept
    std::vector<double> used;
  };
  struct Ended {
    int job;
    double end;
  };

  /// `instance` must outlive it, and share something; counts are those of `decoder`.
  SideBySide(const Instance& instance, const list::Decoder& decoder);

  const std::vector<Count>& counts(int job) const { return counts_[job]; }

  /// The count on which a job starts from now on, by its place in counts().
  void take(int job, int count);

  State empty() const;
  bool fits(const State& state, int job) const;
  void start(State& state, int job) const;

  /// To the next end: those that end then are appended.  False where it is after `latest`: of the state only `now` is
  /// then of use.  O(k^2) for k jobs, O(k) where excesses add up.
  bool finish(State& state, double latest, std::vector<Ended>& ended) const;

  static void copy(const State& from, State& to);
  /// Whether what follows is the same: the same runs with as much left.
  static bool same(const State& one, const State& other);

 private:
  double paired(double factor, double excess) const {
    return with_companion(rule_, factor, excess);
  }
  double factor(const Member& member, double over) const {
    return stalls_ ? std::max(member.pairs, 1 + stall_[member.job] * over) : member.pairs;
  }
  void leave(State& state, const Member& member) const;
  void pair_anew(State& state, const Ended* left, const Ended* end) const;
  double excess(int job, int other) const { return excess_[job * jobs_ + other]; }
  double need(int job, int r) const { return needed_[job * resources_ + r]; }

  int jobs_, machines_, resources_;
  SlowdownRule rule_;
  bool slows_by_pairs_, stalls_ = false;
  std::vector<std::vector<Count>> counts_;
  std::vector<std::vector<double>> needs_;     // of a job, by count and resource
  std::vector<double> excess_, stall_, room_;  // room: capacities, and a tolerance
  std::vector<Count> taken_;
  std::vector<double> needed_;  // on what is taken
};

}  // namespace cosched::moldable::shared
