// Events of a batch policy: a job occupies whole nodes for its run time.
//
// Order within one instant: all completions, then all submissions in order, then one pass over the
// queue.  A job of run time 0 starts in one pass and completes in the next round of that instant.
#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/demand_area.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/livelock_guard.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {

/// A policy derives from it (CRTP, so that its functions are inlined into the loop) and has:
///   on_submit(rank), on_completion(rank)  after the event;
///   run_pass(has_completions, first_new_rank)
///                                         starts jobs; whether jobs have completed, and the ranks
///                                         from which on jobs have been submitted, in this instant;
///   next_pass_time()                      when it needs a pass without an event, or infinity.
template <class Policy>
class BatchEvents {
 public:
  BatchEvents(const Instance& instance, std::vector<BatchJob> jobs, DecisionLog* log)
      : jobs_(std::move(jobs)),
        outcome_(instance.size()),
        cpu_needs_(instance.jobs().cpu),
        demand_area_(instance.nodes()),
        log_(log) {}

 protected:
  /// Runs until all jobs have completed.
  SimulationOutcome simulate() {
    const int job_count = static_cast<int>(jobs_.size());
    int completed_jobs = 0;
    while (completed_jobs < job_count) {
      ++outcome_.events;
      poll_.count(kStepsPerEvent);
      now_ = std::max(now_, next_event_time());
      livelock_guard_.check_round(now_, started_jobs_ + next_rank_ + completed_jobs);
      bool has_completions = false;
      while (!completions_.empty() && completions_.top().first <= now_) {
        complete_next_job();
        ++completed_jobs;
        has_completions = true;
      }
      const int first_new_rank = next_rank_;
      while (next_rank_ < job_count && jobs_[next_rank_].submit <= now_) submit_next_job();
      policy().run_pass(has_completions, first_new_rank);
    }
    outcome_.demand_area = demand_area_.value();
    return std::move(outcome_);
  }

  /// `other_rank` and `value`: see Reason.
  void start_job(int rank, Reason reason, int other_rank, double value) {
    log_decision(rank, JobAction::start, reason, other_rank, value);
    const int job = jobs_[rank].job;
    outcome_.start[job] = now_;
    ++started_jobs_;
    outcome_.end[job] = now_ + jobs_[rank].runtime;
    completions_.emplace(outcome_.end[job], rank);
  }

  /// `other_rank` may be -1.  Without a log this has no effect.
  void log_decision(int rank, JobAction action, Reason reason, int other_rank, double value) {
    if (!log_) return;
    const int other_job = other_rank < 0 ? -1 : jobs_[other_rank].job;
    log_->push_back({.time = now_,
                     .job = jobs_[rank].job,
                     .action = action,
                     .reason = reason,
                     .other = other_job,
                     .value = value});
  }

  double start_of(int rank) const { return outcome_.start[jobs_[rank].job]; }
  double end_of(int rank) const { return outcome_.end[jobs_[rank].job]; }
  /// How many jobs have been submitted, those from that rank on.
  std::size_t submitted_since(int rank) const {
    return static_cast<std::size_t>(next_rank_ - rank);
  }
  double now() const { return now_; }
  bool has_log() const { return log_ != nullptr; }

  std::vector<BatchJob> jobs_;  // by rank; a policy may change how long it expects one to run
  Poll poll_;

 private:
  using Completion = std::pair<double, int>;  // (time, rank)

  static constexpr int kStepsPerEvent = 100;  // for poll_

  Policy& policy() { return static_cast<Policy&>(*this); }
  double cpu_demand(int rank) const { return cpu_needs_[jobs_[rank].job] * jobs_[rank].tasks; }

  double next_event_time() {
    double time = completions_.empty() ? kInfinity : completions_.top().first;
    if (next_rank_ < static_cast<int>(jobs_.size()))
      time = std::min(time, jobs_[next_rank_].submit);
    return std::min(time, policy().next_pass_time());
  }

  void submit_next_job() {
    demand_area_.change(now_, cpu_demand(next_rank_), 1);
    policy().on_submit(next_rank_);
    ++next_rank_;
  }

  void complete_next_job() {
    const int rank = completions_.top().second;
    completions_.pop();
    policy().on_completion(rank);
    demand_area_.change(now_, -cpu_demand(rank), -1);
    log_decision(rank, JobAction::finish, Reason::completed, -1, 0);
  }

  SimulationOutcome outcome_;
  const std::vector<double>& cpu_needs_;
  DemandArea demand_area_;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;
  int next_rank_ = 0;  // of the next submission
  int started_jobs_ = 0;
  LivelockGuard livelock_guard_{"a batch policy"};
  double now_ = 0;
  DecisionLog* log_;
};

}  // namespace cosched::cluster::batch
