// Jobs side by side over time, each on a count that is decided.
#pragma once

#include "cosched/core/progress.hpp"
#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::shared {

/// What running jobs leave free and how they slow each other: a simulation step by step, in states
/// that are copied where memory is kept.
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
  SideBySide(const Instance& instance, const list::Decoder& decoder)
      : jobs_(instance.jobs()),
        machines_(instance.machines()),
        resources_(instance.sharing()->resources()),
        rule_(instance.sharing()->rule()),
        slows_by_pairs_(instance.sharing()->slowdowns().has_value()),
        counts_(jobs_),
        needs_(jobs_),
        taken_(jobs_),
        needed_(jobs_ * resources_) {
    const Sharing& sharing = *instance.sharing();
    for (int r = 0; r < resources_; ++r)
      room_.push_back(sharing.capacity(r) * (1 + kExactTolerance));
    for (int i = 0; i < jobs_; ++i) {
      stall_.push_back(sharing.stall(i));
      stalls_ |= stall_.back() > 0;
      for (const Choice& c : decoder.counts(i)) {
        counts_[i].push_back({c.procs, c.time, sharing.load(i, c.procs)});
        for (int r = 0; r < resources_; ++r) needs_[i].push_back(sharing.need(r, i, c.procs));
      }
    }
    if (!slows_by_pairs_) return;
    for (int i = 0; i < jobs_; ++i)
      for (int j = 0; j < jobs_; ++j) excess_.push_back(sharing.excess(i, j));
  }

  const std::vector<Count>& counts(int job) const { return counts_[job]; }

  /// The count on which a job starts from now on, by its place in counts().
  void take(int job, int count) {
    taken_[job] = counts_[job][count];
    std::copy_n(needs_[job].begin() + count * resources_, resources_,
                needed_.begin() + job * resources_);
  }

  State empty() const {
    State state;
    state.free = machines_;
    state.used.assign(resources_, 0);
    return state;
  }

  bool fits(const State& state, int job) const {
    if (taken_[job].procs > state.free) return false;
    for (int r = 0; r < resources_; ++r)
      if (state.used[r] + need(job, r) > room_[r]) return false;
    return true;
  }

  void start(State& state, int job) const {
    const Count& count = taken_[job];
    double pairs = 1;
    if (slows_by_pairs_)
      for (int k = 0; k < state.size; ++k) {
        Member& other = state.running[k];
        pairs = paired(pairs, excess(job, other.job));
        other.pairs = paired(other.pairs, excess(other.job, job));
      }
    for (int r = 0; r < resources_; ++r) state.used[r] += need(job, r);
    state.load += count.load;
    state.free -= count.procs;
    if (state.size == static_cast<int>(state.running.size())) state.running.emplace_back();
    state.running[state.size++] = {count.time, pairs, kDone * count.time, job, count.procs};
  }

  /// To the next end: those that end then are appended.  False where it is after `latest`: of the
  /// state only `now` is then of use.  O(k^2) for k jobs, O(k) where excesses add up.
  bool finish(State& state, double latest, std::vector<Ended>& ended) const {
    const double over = stalls_ && state.size > 1 ? std::max(0.0, state.load - 1) : 0;
    double step = kInfinity;
    for (int k = 0; k < state.size; ++k)
      step = std::min(step, state.running[k].left * factor(state.running[k], over));
    require_progress(step < kInfinity, "jobs side by side");
    state.now += step;
    if (state.now > latest) return false;
    const std::size_t first = ended.size();
    int kept = 0;
    for (int k = 0; k < state.size; ++k) {
      Member& member = state.running[k];
      member.left -= step / factor(member, over);
      if (member.left > member.done) {
        if (kept < k) state.running[kept] = member;
        ++kept;
      } else {
        ended.push_back({member.job, state.now});
        leave(state, member);
      }
    }
    state.size = kept;
    if (kept == 0) {  // rounding errors do not last
      state.load = 0;
      std::fill(state.used.begin(), state.used.end(), 0.0);
    }
    if (slows_by_pairs_) pair_anew(state, ended.data() + first, ended.data() + ended.size());
    return true;
  }

  static void copy(const State& from, State& to) {
    to.now = from.now;
    to.ends = from.ends;
    to.load = from.load;
    to.free = from.free;
    to.size = from.size;
    if (static_cast<int>(to.running.size()) < from.size) to.running.resize(from.size);
    std::copy_n(from.running.begin(), from.size, to.running.begin());
    std::copy(from.used.begin(), from.used.end(), to.used.begin());
  }

  /// Whether what follows is the same: the same runs with as much left.
  static bool same(const State& one, const State& other) {
    return one.now == other.now && one.size == other.size && one.ends == other.ends &&
           std::equal(one.running.begin(), one.running.begin() + one.size, other.running.begin(),
                      [](const Member& a, const Member& b) {
                        return a.job == b.job && a.procs == b.procs && a.left == b.left;
                      });
  }

 private:
  static constexpr double kDone = 1e-12;  // of a job is left

  double paired(double factor, double excess) const {
    return with_companion(rule_, factor, excess);
  }
  double factor(const Member& member, double over) const {
    return stalls_ ? std::max(member.pairs, 1 + stall_[member.job] * over) : member.pairs;
  }

  void leave(State& state, const Member& member) const {
    state.ends += state.now;
    state.free += member.procs;
    state.load -= taken_[member.job].load;
    for (int r = 0; r < resources_; ++r) state.used[r] -= need(member.job, r);
  }

  // Those that run on, without those that ended.
  void pair_anew(State& state, const Ended* left, const Ended* end) const {
    for (int k = 0; k < state.size; ++k) {
      Member& member = state.running[k];
      if (rule_ == SlowdownRule::sum) {
        for (const Ended* one = left; one < end; ++one)
          member.pairs -= excess(member.job, one->job);
        if (state.size == 1) member.pairs = 1;
        continue;
      }
      member.pairs = 1;
      for (int other = 0; other < state.size; ++other)
        if (other != k)
          member.pairs = paired(member.pairs, excess(member.job, state.running[other].job));
    }
  }

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
