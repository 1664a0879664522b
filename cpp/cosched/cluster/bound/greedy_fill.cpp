#include "cosched/cluster/bound/greedy_fill.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/order.hpp"

namespace cosched::cluster::bound {
namespace {

class GreedyFill {
 public:
  explicit GreedyFill(const IntervalWork& work) : work_(work) {
    time_from_.assign(work.length.size() + 1, 0.0);
    for (std::size_t t = work.length.size(); t > 0; --t)
      time_from_[t - 1] = time_from_[t] + work.length[t - 1];
    for (std::size_t i = 0; i < work.need.size(); ++i)
      jobs_.push_back({.need = work.need[i],
                       .rate = work.rate[i],
                       .urgent_amount = 0,
                       .rounding = need_rounding(work.need[i]),
                       .last = work.last[i],
                       .run_begin = work.first[i],
                       .run_end = work.first[i]});
  }

  FillResult run() {
    const std::vector<int> jobs_by_first =
        sorted_numbers(jobs_.size(), [&](int a, int b) { return work_.first[a] < work_.first[b]; });
    auto next_job = jobs_by_first.begin();
    for (int t = 0; t < static_cast<int>(work_.length.size()); ++t) {
      for (; next_job != jobs_by_first.end() && work_.first[*next_job] == t; ++next_job)
        add_job(*next_job);
      room_ = work_.room[t];
      serve_urgent_jobs(t);
      serve_by_deadline(t);
      for (const int i : urgent_jobs_) jobs_[i].urgent_amount = 0;
      if ((t & 255) == 0) check_interrupt();
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      end_run(static_cast<int>(i), 0);
      result_.unserved.push_back(jobs_[i].need);
    }
    return std::move(result_);
  }

 private:
  struct FillJob {
    double need;           // still, node seconds
    double rate;           // nodes
    double urgent_amount;  // node seconds that it has got in this interval because it had to
    double rounding;
    int last;       // the end of its intervals
    int run_begin;  // intervals of its current run at full rate
    int run_end;
  };
  // The job must run once no more interval time than this remains.
  struct LatestStart {
    double remaining_time;
    int job;
    bool operator<(const LatestStart& other) const { return remaining_time < other.remaining_time; }
  };

  bool has_earlier_deadline(int a, int b) const { return jobs_[a].last < jobs_[b].last; }
  LatestStart latest_start(int i) const {
    return {jobs_[i].need / jobs_[i].rate + time_from_[jobs_[i].last], i};
  }

  void add_job(int i) {
    const auto place = std::upper_bound(open_jobs_.begin(), open_jobs_.end(), i,
                                        [&](int a, int b) { return has_earlier_deadline(a, b); });
    open_jobs_.insert(place, i);
    latest_starts_.push(latest_start(i));
  }

  // What jobs must have now, in order of deadlines.  An entry of `latest_starts_` may be outdated,
  // and is too large then: these jobs are found without a look at the others.
  void serve_urgent_jobs(int t) {
    const double limit = time_from_[t + 1] * (1 - kSumTolerance);
    urgent_jobs_.clear();
    for (; !latest_starts_.empty() && latest_starts_.top().remaining_time > limit;
         latest_starts_.pop()) {
      const int i = latest_starts_.top().job;
      if (jobs_[i].need > jobs_[i].rounding && jobs_[i].last > t) urgent_jobs_.push_back(i);
    }
    std::sort(urgent_jobs_.begin(), urgent_jobs_.end(), [&](int a, int b) {
      return has_earlier_deadline(a, b) || (!has_earlier_deadline(b, a) && a < b);
    });
    for (const int i : urgent_jobs_) {
      FillJob& job = jobs_[i];
      const double excess = job.need - job.rate * (time_from_[t + 1] - time_from_[job.last]);
      job.urgent_amount = serve(i, t, std::min(excess, job.rate * work_.length[t]));
    }
    for (const int i : urgent_jobs_) latest_starts_.push(latest_start(i));
  }

  // Uses the remaining room.  As far as it looks, it removes jobs from `open_jobs_` that are
  // finished or whose deadline has come.
  void serve_by_deadline(int t) {
    const double length = work_.length[t];
    std::size_t open_count = 0;
    std::size_t k = 0;
    for (; k < open_jobs_.size() && room_ > 0; ++k) {
      const int i = open_jobs_[k];
      const FillJob& job = jobs_[i];
      if (job.last > t) serve(i, t, job.rate * length - job.urgent_amount);
      if (job.last > t + 1 && job.need > job.rounding) {
        open_jobs_[open_count] = i;
        ++open_count;
      }
    }
    open_jobs_.erase(open_jobs_.begin() + static_cast<std::ptrdiff_t>(open_count),
                     open_jobs_.begin() + static_cast<std::ptrdiff_t>(k));
  }

  // Gives the job up to `max_amount` of the interval; returns what it has got.
  double serve(int i, int t, double max_amount) {
    FillJob& job = jobs_[i];
    const double amount = std::min({max_amount, job.need, room_});
    if (!(amount > 0)) return 0;
    job.need -= amount;
    room_ -= amount;
    if (amount < job.rate * work_.length[t]) {
      result_.runs.push_back({i, t, t + 1, amount / work_.length[t]});
      return amount;
    }
    if (job.run_end != t) end_run(i, t);
    job.run_end = t + 1;
    return amount;
  }

  // Records the run that is over; another may begin at t.
  void end_run(int i, int t) {
    FillJob& job = jobs_[i];
    if (job.run_begin < job.run_end)
      result_.runs.push_back({i, job.run_begin, job.run_end, job.rate});
    job.run_begin = t;
  }

  const IntervalWork& work_;
  std::vector<double> time_from_;  // by interval t: the length of all intervals from t on
  std::vector<FillJob> jobs_;
  std::vector<int> open_jobs_;  // by deadline
  std::priority_queue<LatestStart> latest_starts_;
  std::vector<int> urgent_jobs_;  // of the current interval
  double room_ = 0;               // of the current interval
  FillResult result_;
};

}  // namespace

FillResult fill_greedily(const IntervalWork& work) { return GreedyFill(work).run(); }

}  // namespace cosched::cluster::bound
