// Simulates jobs that run side by side, each on a count that is decided.
#pragma once

#include <span>

#include "cosched/core/progress.hpp"
#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::shared {

/// Steps from job end to job end.  The jobs that run slow each other by the laws of
/// core/sharing.hpp; what they leave free is part of a MachineState, which callers copy without
/// allocating memory.
class CorunSimulator {
 public:
  /// One count of a job.
  struct CountProfile {
    int procs;
    double time;  // alone, seconds
    double load;  // traffic, as a part of the bandwidth
  };
  struct CorunJob {
    double remaining_work;    // seconds alone
    double pairwise_factor;   // slow-down by the other running jobs, without the bandwidth
    double finish_threshold;  // the job ends when its remaining work is not above this
    int job, procs;
  };
  struct MachineState {
    double now = 0;
    double sum_of_ends = 0;  // of the jobs that have ended
    double load = 0;         // of the running jobs
    int free_procs = 0;
    int running_count = 0;
    std::vector<CorunJob> running;  // the first `running_count` run; the others keep memory
    std::vector<double> used_resources;
  };
  struct JobEnd {
    int job;
    double end;
  };

  /// Takes the counts of `decoder`.  Requires an instance whose jobs share something.
  CorunSimulator(const Instance& instance, const list::Decoder& decoder);

  const std::vector<CountProfile>& counts(int job) const { return counts_[job]; }

  /// Selects the count on which the job starts from now on, by its index in counts().
  void select_count(int job, int count) {
    selected_counts_[job] = counts_[job][count];
    std::copy_n(needs_[job].begin() + count * resources_, resources_,
                selected_needs_.begin() + job * resources_);
  }

  /// Time 0, without jobs.
  MachineState idle_state() const {
    MachineState state;
    state.free_procs = machines_;
    state.used_resources.assign(resources_, 0);
    return state;
  }

  /// Whether the processors and resources that the job needs are free.  O(resources).
  bool has_room_for(const MachineState& state, int job) const {
    if (selected_counts_[job].procs > state.free_procs) return false;
    for (int r = 0; r < resources_; ++r)
      if (state.used_resources[r] + need(job, r) > capacity_limits_[r]) return false;
    return true;
  }

  /// Starts the job now.  Requires has_room_for(state, job).  O(k) for k running jobs.
  void start(MachineState& state, int job) const;

  /// Goes to the next end and appends the jobs that end then.  Returns false where that is after
  /// `cutoff`: of the state only `now` is then valid.  O(k^2) for k running jobs, O(k) where
  /// excesses add up.  Throws SolverError where no job runs.
  bool advance_to_next_end(MachineState& state, double cutoff, std::vector<JobEnd>& ended) const;

  /// Copies without allocating memory where `to` was as large before.
  static void copy_state(const MachineState& from, MachineState& to);

  /// Whether the same jobs run, with as much remaining work, so that everything that follows is the
  /// same.
  static bool has_same_future(const MachineState& a, const MachineState& b);

 private:
  // A job with less than this share of its work left has ended.
  static constexpr double kFinishedShare = kSumTolerance;

  double combine_factors(double factor, double excess) const {
    return with_companion(rule_, factor, excess);
  }
  double slowdown_factor(const CorunJob& member, double overload) const {
    return has_stalls_ ? std::max(member.pairwise_factor, 1 + stall_shares_[member.job] * overload)
                       : member.pairwise_factor;
  }

  void release_job(MachineState& state, const CorunJob& member) const {
    state.sum_of_ends += state.now;
    state.free_procs += member.procs;
    state.load -= selected_counts_[member.job].load;
    for (int r = 0; r < resources_; ++r) state.used_resources[r] -= need(member.job, r);
  }

  // Takes the jobs that ended out of the factors of those that still run.
  void update_pairwise_factors(MachineState& state, std::span<const JobEnd> ended) const;

  double excess(int job, int other) const { return excess_[job * jobs_ + other]; }
  double need(int job, int r) const { return selected_needs_[job * resources_ + r]; }

  int jobs_, machines_, resources_;
  SlowdownRule rule_;
  bool has_pairwise_slowdowns_;
  bool has_stalls_ = false;
  std::vector<std::vector<CountProfile>> counts_;  // of each job
  std::vector<std::vector<double>> needs_;         // of each job, by count and resource
  std::vector<double> excess_;                     // of each job, by other job
  std::vector<double> stall_shares_;               // of each job
  std::vector<double> capacity_limits_;            // of the resources, with a tolerance
  std::vector<CountProfile> selected_counts_;      // of each job
  std::vector<double> selected_needs_;             // of each job on its selected count
};

}  // namespace cosched::moldable::shared
