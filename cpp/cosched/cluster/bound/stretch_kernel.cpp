#include "cosched/cluster/bound/stretch_kernel.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {
namespace {

constexpr double kRounding = kSumTolerance;  // relative

struct BorderEvent {
  double time;
  IntervalBorder border;
};

// Releases come before deadlines of the same time.
std::vector<BorderEvent> sort_borders(const std::vector<StretchJob>& jobs, double stretch) {
  std::vector<BorderEvent> events;
  events.reserve(2 * jobs.size());
  for (int j = 0; j < static_cast<int>(jobs.size()); ++j)
    for (const bool is_deadline : {false, true}) {
      const IntervalBorder border{j, is_deadline};
      events.push_back({border.time_at(jobs, stretch), border});
    }
  std::sort(events.begin(), events.end(), [](const BorderEvent& a, const BorderEvent& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.border.is_deadline != b.border.is_deadline) return b.border.is_deadline;
    return a.border.job < b.border.job;
  });
  return events;
}

// All intervals between consecutive releases and deadlines, and all jobs.
StretchResidual make_full_residual(const std::vector<StretchJob>& jobs, double stretch) {
  StretchResidual residual;
  residual.first.resize(jobs.size());
  residual.last.resize(jobs.size());
  int point_count = 0;  // different times
  double last_time = 0;
  for (const auto& [time, border] : sort_borders(jobs, stretch)) {
    if (point_count == 0 || time != last_time) {
      // Where borders coincide, a release begins an interval if there is one ...
      if (point_count > 0) residual.length.push_back(time - last_time);
      ++point_count;
      residual.border_begin.push_back(border);
      residual.border_end.push_back(border);
      last_time = time;
    }
    residual.border_end.back() = border;  // ... and a deadline ends one, if there is one
    std::vector<int>& interval_of_job = border.is_deadline ? residual.last : residual.first;
    interval_of_job[border.job] = point_count - 1;
  }
  residual.border_begin.pop_back();
  residual.border_end.erase(residual.border_end.begin());
  residual.job.resize(jobs.size());
  std::iota(residual.job.begin(), residual.job.end(), 0);
  for (const StretchJob& job : jobs) residual.remaining.push_back(job.runtime);
  return residual;
}

// Finds the intervals that become free in one sweep over them.  A job that they finish no longer
// counts in the intervals that the sweep still has to visit: cascades run along with it, and few
// sweeps to and fro are needed.
class FreeIntervalSweep {
 public:
  FreeIntervalSweep(const StretchResidual& residual, const std::vector<StretchJob>& jobs,
                    bool runs_backwards)
      : residual_(residual),
        jobs_(jobs),
        runs_backwards_(runs_backwards),
        interval_count_(static_cast<int>(residual.length.size())),
        arrival_begin_(interval_count_ + 1, 0),
        jobs_by_arrival_(residual.job.size()),
        leaving_rate_(interval_count_ + 1, 0.0) {
    const int job_count = static_cast<int>(residual.job.size());
    for (int i = 0; i < job_count; ++i) ++arrival_begin_[begin(i)];
    std::partial_sum(arrival_begin_.begin(), arrival_begin_.end(), arrival_begin_.begin());
    for (int i = job_count - 1; i >= 0; --i) {
      int& place = arrival_begin_[begin(i)];
      --place;
      jobs_by_arrival_[place] = i;
    }
  }

  // By interval, whether it is free.
  std::vector<char> run(double nodes) {
    std::vector<char> is_free(interval_count_, 0);
    for (int k = 0; k < interval_count_; ++k) {
      rate_ -= leaving_rate_[k];
      for (int a = arrival_begin_[k]; a < arrival_begin_[k + 1]; ++a) add_job(jobs_by_arrival_[a]);
      if (rate_ > nodes * (1 + kRounding)) continue;
      const int interval = runs_backwards_ ? interval_count_ - 1 - k : k;
      is_free[interval] = 1;
      free_time_ += residual_.length[interval];
      for (; !finishes_.empty() && finishes_.top().first <= free_time_; finishes_.pop())
        remove_finished_job(finishes_.top().second, k);
    }
    return is_free;
  }

 private:
  using Finish = std::pair<double, int>;  // (free time of the sweep, job)

  // Intervals of the job in the direction of the sweep.
  int begin(int i) const {
    return runs_backwards_ ? interval_count_ - residual_.last[i] : residual_.first[i];
  }
  int end(int i) const {
    return runs_backwards_ ? interval_count_ - residual_.first[i] : residual_.last[i];
  }
  double rate(int i) const { return jobs_[residual_.job[i]].rate; }

  void add_job(int i) {
    rate_ += rate(i);
    leaving_rate_[end(i)] += rate(i);
    const double tolerance = jobs_[residual_.job[i]].runtime * kRounding;
    finishes_.emplace(free_time_ + residual_.remaining[i] - tolerance, i);
  }

  void remove_finished_job(int i, int k) {
    if (end(i) <= k) return;
    rate_ -= rate(i);
    leaving_rate_[end(i)] -= rate(i);
  }

  const StretchResidual& residual_;
  const std::vector<StretchJob>& jobs_;
  const bool runs_backwards_;
  const int interval_count_;
  std::vector<int> arrival_begin_;  // by interval: its first job in jobs_by_arrival_
  std::vector<int> jobs_by_arrival_;
  std::vector<double> leaving_rate_;  // by interval: of the jobs that end before it
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes_;
  double rate_ = 0;       // of the unfinished jobs alive
  double free_time_ = 0;  // of the free intervals so far
};

// Removes the free intervals and the jobs that they finish.  Returns whether a job that had
// congested intervals is finished thereby.
bool remove_free_intervals(const std::vector<char>& is_free, StretchResidual& residual,
                           const std::vector<StretchJob>& jobs) {
  std::vector<int> congested_before(is_free.size() + 1, 0);       // by interval: number
  std::vector<double> free_time_before(is_free.size() + 1, 0.0);  // by interval: s
  for (std::size_t k = 0; k < is_free.size(); ++k) {
    congested_before[k + 1] = congested_before[k] + (is_free[k] ? 0 : 1);
    free_time_before[k + 1] = free_time_before[k] + (is_free[k] ? residual.length[k] : 0);
    if (is_free[k]) continue;
    const int target = congested_before[k];
    residual.border_begin[target] = residual.border_begin[k];
    residual.border_end[target] = residual.border_end[k];
    residual.length[target] = residual.length[k];
  }
  residual.border_begin.resize(congested_before.back());
  residual.border_end.resize(congested_before.back());
  residual.length.resize(congested_before.back());
  std::size_t job_count = 0;
  bool has_finished_job = false;
  for (std::size_t i = 0; i < residual.job.size(); ++i) {
    const int first = residual.first[i];
    const int last = residual.last[i];
    // Without a congested interval in its window of S max(p, threshold) >= p the job is finished up
    // to rounding.
    if (congested_before[first] == congested_before[last]) continue;
    const double remaining =
        residual.remaining[i] - (free_time_before[last] - free_time_before[first]);
    if (remaining <= jobs[residual.job[i]].runtime * kRounding) {
      has_finished_job = true;
      continue;
    }
    residual.job[job_count] = residual.job[i];
    residual.first[job_count] = congested_before[first];
    residual.last[job_count] = congested_before[last];
    residual.remaining[job_count] = remaining;
    ++job_count;
  }
  residual.job.resize(job_count);
  residual.first.resize(job_count);
  residual.last.resize(job_count);
  residual.remaining.resize(job_count);
  return has_finished_job;
}

}  // namespace

StretchResidual stretch_kernel(const std::vector<StretchJob>& jobs, double stretch, double nodes) {
  StretchResidual residual = make_full_residual(jobs, stretch);
  for (bool runs_backwards = false;; runs_backwards = !runs_backwards) {
    check_interrupt();
    const std::vector<char> is_free = FreeIntervalSweep(residual, jobs, runs_backwards).run(nodes);
    const bool has_finished_job = remove_free_intervals(is_free, residual, jobs);
    if (!has_finished_job) return residual;
  }
}

}  // namespace cosched::cluster::bound
