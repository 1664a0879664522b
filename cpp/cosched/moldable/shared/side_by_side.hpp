// Jobs side by side over time, each on a count that is decided.
#pragma once

#include "cosched/core/progress.hpp"
#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::shared {

/// What running jobs leave free and how they slow each other: a simulation step by step, in states
/// that are copied where memory is kept.
class CorunSimulator {
 public:
  struct CountProfile {
    int procs;
    double time, load;
  };
  struct RunningJob {
    double remaining_work, pairwise_factor,
        finish_threshold;  // done: where so little is left, it ends
    int job, procs;
  };
  struct MachineState {
    double now = 0, sum_of_ends = 0, load = 0;  // ends: the sum of those so far
    int free_procs = 0, running_count = 0;
    std::vector<RunningJob> running;  // the first `size`; memory is kept
    std::vector<double> used_resources;
  };
  struct JobEnd {
    int job;
    double end;
  };

  /// `instance` must outlive it, and share something; counts are those of `decoder`.
  CorunSimulator(const Instance& instance, const list::Decoder& decoder)
      : jobs_(instance.jobs()),
        machines_(instance.machines()),
        resources_(instance.sharing()->resources()),
        rule_(instance.sharing()->rule()),
        has_pairwise_slowdowns_(instance.sharing()->slowdowns().has_value()),
        counts_(jobs_),
        needs_(jobs_),
        selected_counts_(jobs_),
        selected_needs_(jobs_ * resources_) {
    const Sharing& sharing = *instance.sharing();
    for (int r = 0; r < resources_; ++r)
      capacity_limits_.push_back(sharing.capacity(r) * (1 + kExactTolerance));
    for (int i = 0; i < jobs_; ++i) {
      stall_shares_.push_back(sharing.stall(i));
      has_stalls_ |= stall_shares_.back() > 0;
      for (const Choice& c : decoder.counts(i)) {
        counts_[i].push_back({c.procs, c.time, sharing.load(i, c.procs)});
        for (int r = 0; r < resources_; ++r) needs_[i].push_back(sharing.need(r, i, c.procs));
      }
    }
    if (!has_pairwise_slowdowns_) return;
    for (int i = 0; i < jobs_; ++i)
      for (int j = 0; j < jobs_; ++j) excess_.push_back(sharing.excess(i, j));
  }

  const std::vector<CountProfile>& counts(int job) const { return counts_[job]; }

  /// The count on which a job starts from now on, by its place in counts().
  void select_count(int job, int count) {
    selected_counts_[job] = counts_[job][count];
    std::copy_n(needs_[job].begin() + count * resources_, resources_,
                selected_needs_.begin() + job * resources_);
  }

  MachineState idle_state() const {
    MachineState state;
    state.free_procs = machines_;
    state.used_resources.assign(resources_, 0);
    return state;
  }

  bool has_room_for(const MachineState& state, int job) const {
    if (selected_counts_[job].procs > state.free_procs) return false;
    for (int r = 0; r < resources_; ++r)
      if (state.used_resources[r] + need(job, r) > capacity_limits_[r]) return false;
    return true;
  }

  void start(MachineState& state, int job) const {
    const CountProfile& count = selected_counts_[job];
    double pairs = 1;
    if (has_pairwise_slowdowns_)
      for (int k = 0; k < state.running_count; ++k) {
        RunningJob& other = state.running[k];
        pairs = combine_factors(pairs, excess(job, other.job));
        other.pairwise_factor = combine_factors(other.pairwise_factor, excess(other.job, job));
      }
    for (int r = 0; r < resources_; ++r) state.used_resources[r] += need(job, r);
    state.load += count.load;
    state.free_procs -= count.procs;
    if (state.running_count == static_cast<int>(state.running.size())) state.running.emplace_back();
    state.running[state.running_count++] = {count.time, pairs, kFinishedShare * count.time, job,
                                            count.procs};
  }

  /// To the next end: those that end then are appended.  False where it is after `latest`: of the
  /// state only `now` is then of use.  O(k^2) for k jobs, O(k) where excesses add up.
  bool advance_to_next_end(MachineState& state, double latest, std::vector<JobEnd>& ended) const {
    const double over = has_stalls_ && state.running_count > 1 ? std::max(0.0, state.load - 1) : 0;
    double step = kInfinity;
    for (int k = 0; k < state.running_count; ++k)
      step =
          std::min(step, state.running[k].remaining_work * slowdown_factor(state.running[k], over));
    require_progress(step < kInfinity, "jobs side by side");
    state.now += step;
    if (state.now > latest) return false;
    const std::size_t first = ended.size();
    int kept = 0;
    for (int k = 0; k < state.running_count; ++k) {
      RunningJob& member = state.running[k];
      member.remaining_work -= step / slowdown_factor(member, over);
      if (member.remaining_work > member.finish_threshold) {
        if (kept < k) state.running[kept] = member;
        ++kept;
      } else {
        ended.push_back({member.job, state.now});
        release_job(state, member);
      }
    }
    state.running_count = kept;
    if (kept == 0) {  // rounding errors do not last
      state.load = 0;
      std::fill(state.used_resources.begin(), state.used_resources.end(), 0.0);
    }
    if (has_pairwise_slowdowns_)
      update_pairwise_factors(state, ended.data() + first, ended.data() + ended.size());
    return true;
  }

  static void copy_state(const MachineState& from, MachineState& to) {
    to.now = from.now;
    to.sum_of_ends = from.sum_of_ends;
    to.load = from.load;
    to.free_procs = from.free_procs;
    to.running_count = from.running_count;
    if (static_cast<int>(to.running.size()) < from.running_count)
      to.running.resize(from.running_count);
    std::copy_n(from.running.begin(), from.running_count, to.running.begin());
    std::copy(from.used_resources.begin(), from.used_resources.end(), to.used_resources.begin());
  }

  /// Whether what follows is the same: the same runs with as much left.
  static bool has_same_future(const MachineState& one, const MachineState& other) {
    return one.now == other.now && one.running_count == other.running_count &&
           one.sum_of_ends == other.sum_of_ends &&
           std::equal(one.running.begin(), one.running.begin() + one.running_count,
                      other.running.begin(), [](const RunningJob& a, const RunningJob& b) {
                        return a.job == b.job && a.procs == b.procs &&
                               a.remaining_work == b.remaining_work;
                      });
  }

 private:
  static constexpr double kFinishedShare = 1e-12;  // of a job is left

  double combine_factors(double factor, double excess) const {
    return with_companion(rule_, factor, excess);
  }
  double slowdown_factor(const RunningJob& member, double over) const {
    return has_stalls_ ? std::max(member.pairwise_factor, 1 + stall_shares_[member.job] * over)
                       : member.pairwise_factor;
  }

  void release_job(MachineState& state, const RunningJob& member) const {
    state.sum_of_ends += state.now;
    state.free_procs += member.procs;
    state.load -= selected_counts_[member.job].load;
    for (int r = 0; r < resources_; ++r) state.used_resources[r] -= need(member.job, r);
  }

  // Those that run on, without those that ended.
  void update_pairwise_factors(MachineState& state, const JobEnd* left, const JobEnd* end) const {
    for (int k = 0; k < state.running_count; ++k) {
      RunningJob& member = state.running[k];
      if (rule_ == SlowdownRule::sum) {
        for (const JobEnd* one = left; one < end; ++one)
          member.pairwise_factor -= excess(member.job, one->job);
        if (state.running_count == 1) member.pairwise_factor = 1;
        continue;
      }
      member.pairwise_factor = 1;
      for (int other = 0; other < state.running_count; ++other)
        if (other != k)
          member.pairwise_factor =
              combine_factors(member.pairwise_factor, excess(member.job, state.running[other].job));
    }
  }

  double excess(int job, int other) const { return excess_[job * jobs_ + other]; }
  double need(int job, int r) const { return selected_needs_[job * resources_ + r]; }

  int jobs_, machines_, resources_;
  SlowdownRule rule_;
  bool has_pairwise_slowdowns_, has_stalls_ = false;
  std::vector<std::vector<CountProfile>> counts_;
  std::vector<std::vector<double>> needs_;  // of a job, by count and resource
  std::vector<double> excess_, stall_shares_,
      capacity_limits_;  // room: capacities, and a tolerance
  std::vector<CountProfile> selected_counts_;
  std::vector<double> selected_needs_;  // on what is taken
};

}  // namespace cosched::moldable::shared
