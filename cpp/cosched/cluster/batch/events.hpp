// Events of a batch policy: a job takes whole nodes for its run time.
//
// Order within one instant: all completions, then all submissions in order, then one pass over the
// queue.  A job of run time 0 starts in one pass and completes in the next round of that instant.
#pragma once

#include <functional>
#include <queue>

#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"

namespace cosched::cluster::batch {

/// One job's columns, by rank: a pass reads them together.
struct BatchJob {
  double submit, runtime, expected;
  int tasks, job;
};

/// Requested estimates need Instance::has_estimates() (InvalidInstance).
inline std::vector<BatchJob> batch_jobs(const Instance& instance, Estimates estimates) {
  const bool requested = estimates == Estimates::requested;
  if (requested && !instance.has_estimates())
    throw InvalidInstance("estimates = \"requested\": the jobs have no estimate column");
  const Jobs& jobs = instance.jobs();
  const std::vector<double>& expected = requested ? jobs.estimate : jobs.runtime;
  std::vector<BatchJob> result;
  result.reserve(instance.size());
  for (const int j : instance.order())
    result.push_back({jobs.submit[j], jobs.runtime[j], expected[j], jobs.tasks[j], j});
  return result;
}

// Whether a rank comes before another.
class InOrder {
 public:
  InOrder(const Order& order, const std::vector<BatchJob>& jobs, double now)
      : order_(order), jobs_(jobs), now_(now) {}
  bool operator()(int a, int b) const {
    const BatchJob &x = jobs_[a], &y = jobs_[b];
    if (!order_.key.empty() && order_.key[x.job] != order_.key[y.job])
      return order_.key[x.job] < order_.key[y.job];
    if (!order_.wfp3) return a < b;
    const double first = wfp3(x), second = wfp3(y);
    return first != second ? first > second : a < b;
  }

 private:
  double wfp3(const BatchJob& job) const {
    return std::pow((now_ - job.submit) / std::max(job.expected, 1.0), 3) * job.tasks;
  }

  const Order& order_;
  const std::vector<BatchJob>& jobs_;
  double now_;
};

/// Keeps the part of `queue` (ranks) from `head` on in order, of which those from `known` on are
/// new. Whether any order but that of submission is kept.
inline bool put_in_order(std::vector<int>& queue, std::size_t head, std::size_t known,
                         const Order& order, const std::vector<BatchJob>& jobs, double now) {
  const InOrder before(order, jobs, now);
  const auto begin = queue.begin() + static_cast<std::ptrdiff_t>(head);
  const auto middle = queue.begin() + static_cast<std::ptrdiff_t>(known);
  if (order.wfp3) {
    std::sort(begin, queue.end(), before);
  } else if (order.key.empty()) {
    return false;
  } else if (middle != queue.end()) {
    std::sort(middle, queue.end(), before);
    std::inplace_merge(begin, middle, queue.end(), before);
  }
  return true;
}

/// A policy derives from it (CRTP) and has:
///   submitted(rank), completed(rank)   after the event;
///   pass(freed, known)                 starts jobs; `freed`: some completed; new jobs are those of
///   rank >= known;
///   wake()                             when it wants a pass without an event, or infinity.
template <class Policy>
class BatchEvents {
 public:
  BatchEvents(const Instance& instance, std::vector<BatchJob> jobs, DecisionLog* log)
      : jobs_(std::move(jobs)),
        outcome_(instance.size()),
        cpu_(instance.jobs().cpu),
        demand_(instance.nodes()),
        log_(log) {}

 protected:
  /// All events.
  Outcome simulate() {
    const int n = static_cast<int>(jobs_.size());
    for (int finished = 0; finished < n;) {
      ++outcome_.events;
      poll_.count(100);
      now_ = std::max(now_, next_event());
      progress_.round(now_, started_ + next_ + finished);
      bool freed = false;
      for (; !ends_.empty() && ends_.top().first <= now_; ++finished, freed = true) complete();
      const int known = next_;
      for (; next_ < n && jobs_[next_].submit <= now_; ++next_) submit();
      policy().pass(freed, known);
    }
    outcome_.demand_area = demand_.value();
    return std::move(outcome_);
  }

  void start(int rank, Reason reason, int other_rank, double value) {
    note(rank, Action::start, reason, other_rank, value);
    const int job = jobs_[rank].job;
    outcome_.start[job] = now_;
    ++started_;
    outcome_.end[job] = now_ + jobs_[rank].runtime;
    ends_.emplace(outcome_.end[job], rank);
  }

  void note(int rank, Action action, Reason reason, int other_rank, double value) {
    if (!log_) return;
    const int other = other_rank < 0 ? -1 : jobs_[other_rank].job;
    log_->push_back({now_, jobs_[rank].job, action, reason, other, value});
  }

  double start_of(int rank) const { return outcome_.start[jobs_[rank].job]; }
  double end_of(int rank) const { return outcome_.end[jobs_[rank].job]; }
  /// How many were submitted from that rank on.
  std::size_t submitted_since(int rank) const { return static_cast<std::size_t>(next_ - rank); }
  double now() const { return now_; }
  bool logs() const { return log_ != nullptr; }

  std::vector<BatchJob> jobs_;  // a policy may change how long it expects one to run
  Poll poll_;

 private:
  using End = std::pair<double, int>;  // (time, rank)

  Policy& policy() { return static_cast<Policy&>(*this); }
  double cpu(int rank) const { return cpu_[jobs_[rank].job] * jobs_[rank].tasks; }

  double next_event() {
    const double end = ends_.empty() ? kInfinity : ends_.top().first;
    const double first =
        next_ < static_cast<int>(jobs_.size()) ? std::min(end, jobs_[next_].submit) : end;
    return std::min(first, policy().wake());
  }
  void submit() {
    demand_.change(now_, cpu(next_), 1);
    policy().submitted(next_);
  }
  void complete() {
    const int rank = ends_.top().second;
    ends_.pop();
    policy().completed(rank);
    demand_.change(now_, -cpu(rank), -1);
    note(rank, Action::finish, Reason::completed, -1, 0);
  }

  Outcome outcome_;
  const std::vector<double>& cpu_;
  DemandArea demand_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  int next_ = 0;  // rank of the next submission
  int started_ = 0;
  Progress progress_{"a batch policy"};
  double now_ = 0;
  DecisionLog* log_;
};

}  // namespace cosched::cluster::batch
