#include "cosched/cluster/batch/fcfs_easy.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {
namespace {

// One job's columns, by rank: the pass reads tasks and estimate together.
struct BatchJob {
  double submit, runtime, estimate;
  int tasks;
};

std::vector<BatchJob> by_rank(const Instance& instance, bool requested) {
  const Jobs& jobs = instance.jobs();
  std::vector<BatchJob> result;
  result.reserve(instance.size());
  for (const int j : instance.order())
    result.push_back({jobs.submit[j], jobs.runtime[j],
                      requested ? jobs.estimate[j] : jobs.runtime[j], jobs.tasks[j]});
  return result;
}

// Nodes that running jobs are expected to give back, latest first, so that the
// earliest is popped from the back.
class ExpectedEnds {
 public:
  void add(double end, int tasks, int rank) {
    const Row row{end, tasks, rank};
    rows_.insert(std::lower_bound(rows_.begin(), rows_.end(), row, later), row);
  }
  void remove(double end, int tasks, int rank) {
    rows_.erase(std::lower_bound(rows_.begin(), rows_.end(), Row{end, tasks, rank}, later));
  }
  /// Earliest expected time (at least `now`) when `need` nodes are free, and how many
  /// are free then.  Requires that all nodes together are enough.
  std::pair<double, int> when_free(double now, int free, int need) const {
    auto row = rows_.rbegin();
    double time = now;
    for (; free < need; ++row) {
      free += row->tasks;
      time = std::max(now, row->end);
    }
    for (; row != rows_.rend() && row->end <= time; ++row) free += row->tasks;
    return {time, free};
  }

 private:
  struct Row {
    double end;
    int tasks, rank;
  };
  static bool later(const Row& a, const Row& b) {
    return a.end != b.end ? a.end > b.end : a.rank > b.rank;
  }
  std::vector<Row> rows_;
};

class BatchSimulation {
 public:
  BatchSimulation(const Instance& instance, bool backfill, bool requested, DecisionLog* log)
      : instance_(instance),
        backfill_(backfill),
        jobs_(by_rank(instance, requested)),
        outcome_(instance.size()),
        demand_(instance.nodes()),
        free_(instance.nodes()),
        log_(log) {}

  Outcome run() {
    const int n = instance_.size();
    for (int finished = 0; finished < n;) {
      ++outcome_.events;
      poll_.count(100);
      const double next_end = ends_.empty() ? kInfinity : ends_.top().first;
      now_ = next_ < n ? std::min(next_end, jobs_[next_].submit) : next_end;
      bool freed = false;
      for (; !ends_.empty() && ends_.top().first <= now_; ++finished, freed = true) complete();
      const std::size_t first_new = queue_.size();
      const int first_new_rank = next_;
      for (; next_ < n && jobs_[next_].submit <= now_; ++next_) submit();
      pass(freed, first_new);
      if (log_) note_waits(first_new_rank);
    }
    outcome_.demand_area = demand_.value();
    return std::move(outcome_);
  }

 private:
  double cpu(int rank) const {
    return instance_.jobs().cpu[instance_.order()[rank]] * jobs_[rank].tasks;
  }

  void complete() {
    const int rank = ends_.top().second;
    ends_.pop();
    free_ += jobs_[rank].tasks;
    const int job = instance_.order()[rank];
    if (backfill_)
      expected_.remove(outcome_.start[job] + jobs_[rank].estimate, jobs_[rank].tasks, rank);
    demand_.change(now_, -cpu(rank), -1);
    note(rank, Action::finish, Reason::completed, -1, 0);
  }

  void submit() {
    queue_.push_back(next_);
    demand_.change(now_, cpu(next_), 1);
  }

  void start(int rank) {
    const int job = instance_.order()[rank];
    free_ -= jobs_[rank].tasks;
    outcome_.start[job] = now_;
    outcome_.end[job] = now_ + jobs_[rank].runtime;
    ends_.emplace(outcome_.end[job], rank);
    if (backfill_) expected_.add(now_ + jobs_[rank].estimate, jobs_[rank].tasks, rank);
  }

  void note(int rank, Action action, Reason reason, int other_rank, double value) {
    if (!log_) return;
    const auto& order = instance_.order();
    log_->push_back(
        {now_, order[rank], action, reason, other_rank < 0 ? -1 : order[other_rank], value});
  }

  // `freed`: nodes came back since the last pass.  queue_[first_new..] are new.
  void pass(bool freed, std::size_t first_new) {
    bool changed = freed || first_new == head_;  // a new head has no reservation yet
    while (head_ < queue_.size() && jobs_[queue_[head_]].tasks <= free_) {
      note(queue_[head_], Action::start, Reason::head_of_queue, -1, free_);
      start(queue_[head_++]);
      changed = true;
    }
    if (head_ == queue_.size()) {
      queue_.clear();
      head_ = 0;
      return;
    }
    first_new = std::max(first_new, head_);
    if (!backfill_) return;
    // Without freed nodes and before the shadow time, what could not start still cannot.
    std::size_t from = std::max(first_new, head_ + 1);
    if (changed || now_ > shadow_) {
      const auto [time, free_then] = expected_.when_free(now_, free_, jobs_[queue_[head_]].tasks);
      shadow_ = time;
      extra_ = free_then - jobs_[queue_[head_]].tasks;
      from = head_ + 1;
    }
    backfill(from);
  }

  void backfill(std::size_t from) {
    std::size_t kept = from, at = from;
    for (; at < queue_.size() && free_ > 0; ++at) {
      const BatchJob& job = jobs_[queue_[at]];
      const bool in_time = now_ + job.estimate <= shadow_;
      if (job.tasks > free_ || !(in_time || job.tasks <= extra_)) {
        queue_[kept++] = queue_[at];
        continue;
      }
      if (in_time) {
        note(queue_[at], Action::start, Reason::backfill_in_time, queue_[head_], shadow_);
      } else {
        note(queue_[at], Action::start, Reason::backfill_extra, queue_[head_], extra_);
        extra_ -= job.tasks;
      }
      start(queue_[at]);
    }
    poll_.count(4 * static_cast<std::int64_t>(at - from));
    if (kept < at) queue_.erase(queue_.begin() + kept, queue_.begin() + at);
    if (head_ > 4096 && head_ > queue_.size() / 2) {
      queue_.erase(queue_.begin(), queue_.begin() + head_);
      head_ = 0;
    }
  }

  // Why the jobs of rank >= first_new_rank, just submitted, are still in the queue.
  void note_waits(int first_new_rank) {
    const auto begin = queue_.begin() + static_cast<std::ptrdiff_t>(head_);
    for (auto at = std::lower_bound(begin, queue_.end(), first_new_rank); at != queue_.end();
         ++at) {
      if (jobs_[*at].tasks > free_)
        note(*at, Action::wait, Reason::too_few_nodes, -1, free_);
      else if (backfill_)
        note(*at, Action::wait, Reason::reservation, queue_[head_], shadow_);
      else
        note(*at, Action::wait, Reason::behind_queue, queue_[head_], 0);
    }
  }

  using End = std::pair<double, int>;  // (time, rank)

  const Instance& instance_;
  const bool backfill_;
  const std::vector<BatchJob> jobs_;
  Outcome outcome_;
  DemandArea demand_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  ExpectedEnds expected_;
  std::vector<int> queue_;  // ranks in order of submission, from head_ on
  std::size_t head_ = 0;
  int next_ = 0;  // rank of the next submission
  int free_;
  int extra_ = 0;
  double now_ = 0, shadow_ = kInfinity;
  DecisionLog* log_;
  Poll poll_;
};

}  // namespace

Outcome fcfs(const Instance& instance, DecisionLog* log) {
  require_batch_fits(instance);
  return BatchSimulation(instance, false, false, log).run();
}

Outcome easy(const Instance& instance, Estimates estimates, DecisionLog* log) {
  require_batch_fits(instance);
  const bool requested = estimates == Estimates::requested;
  if (requested && !instance.has_estimates())
    throw InvalidInstance("estimates = \"requested\": the jobs have no estimate column");
  return BatchSimulation(instance, true, requested, log).run();
}

}  // namespace cosched::cluster::batch
