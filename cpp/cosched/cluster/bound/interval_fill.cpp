#include "cosched/cluster/bound/interval_fill.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::bound {
namespace {

class Fill {
 public:
  explicit Fill(const IntervalWork& work) : work_(work) {
    after_.assign(work.length.size() + 1, 0.0);
    for (std::size_t t = work.length.size(); t-- > 0;) after_[t] = after_[t + 1] + work.length[t];
    for (std::size_t i = 0; i < work.need.size(); ++i)
      jobs_.push_back({work.need[i], work.rate[i], 0, need_rounding(work.need[i]), work.last[i],
                       work.first[i], work.first[i]});
  }

  Filled run() {
    std::vector<int> by_start(jobs_.size());
    std::iota(by_start.begin(), by_start.end(), 0);
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](int a, int b) { return work_.first[a] < work_.first[b]; });
    auto arriving = by_start.begin();
    for (int t = 0; t < static_cast<int>(work_.length.size()); ++t) {
      for (; arriving != by_start.end() && work_.first[*arriving] == t; ++arriving)
        arrive(*arriving);
      room_ = work_.room[t];
      what_must(t);
      by_deadline(t);
      for (const int i : urgent_) jobs_[i].now = 0;
      if ((t & 255) == 0) check_interrupt();
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      end_run(static_cast<int>(i), 0);
      result_.left.push_back(jobs_[i].need);
    }
    return std::move(result_);
  }

 private:
  struct Job {
    double need, rate, now;  // node seconds left; nodes; node seconds that it must have now
    double rounding;
    int last;
    int begin, end;  // intervals of its present run at full rate
  };
  struct Latest {
    double interval_time;  // the job must run once no more than this is left
    int job;
    bool operator<(const Latest& other) const { return interval_time < other.interval_time; }
  };

  bool before(int a, int b) const { return jobs_[a].last < jobs_[b].last; }
  Latest latest(int i) const { return {jobs_[i].need / jobs_[i].rate + after_[jobs_[i].last], i}; }

  void arrive(int i) {
    alive_.insert(std::upper_bound(alive_.begin(), alive_.end(), i,
                                   [&](int a, int b) { return before(a, b); }),
                  i);
    must_.push(latest(i));
  }

  // What jobs must have now, in order of deadlines.  An entry of `must_` may be out of date, and
  // is too large then: `must_` finds these jobs without a look at the others.
  void what_must(int t) {
    const double limit = after_[t + 1] * (1 - 1e-12);
    urgent_.clear();
    for (; !must_.empty() && must_.top().interval_time > limit; must_.pop()) {
      const int i = must_.top().job;
      if (jobs_[i].need > jobs_[i].rounding && jobs_[i].last > t) urgent_.push_back(i);
    }
    std::sort(urgent_.begin(), urgent_.end(),
              [&](int a, int b) { return before(a, b) || (!before(b, a) && a < b); });
    for (const int i : urgent_) {
      Job& job = jobs_[i];
      const double late = job.need - job.rate * (after_[t + 1] - after_[job.last]);
      job.now = give(i, t, std::min(late, job.rate * work_.length[t]));
    }
    for (const int i : urgent_) must_.push(latest(i));
  }

  // The rest of the room.  Takes jobs that are finished or late out of `alive_` as far as it looks.
  void by_deadline(int t) {
    const double length = work_.length[t];
    std::size_t kept = 0, at = 0;
    for (; at < alive_.size() && room_ > 0; ++at) {
      const int i = alive_[at];
      const Job& job = jobs_[i];
      if (job.last > t) give(i, t, job.rate * length - job.now);
      if (job.last > t + 1 && job.need > job.rounding) alive_[kept++] = i;
    }
    alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(kept),
                 alive_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  double give(int i, int t, double most) {
    Job& job = jobs_[i];
    const double amount = std::min({most, job.need, room_});
    if (!(amount > 0)) return 0;
    job.need -= amount;
    room_ -= amount;
    if (amount < job.rate * work_.length[t]) {
      result_.runs.push_back({i, t, t + 1, amount / work_.length[t]});
      return amount;
    }
    if (job.end != t) end_run(i, t);
    job.end = t + 1;
    return amount;
  }

  // Notes the run that is over; another may begin at t.
  void end_run(int i, int t) {
    Job& job = jobs_[i];
    if (job.begin < job.end) result_.runs.push_back({i, job.begin, job.end, job.rate});
    job.begin = t;
  }

  const IntervalWork& work_;
  std::vector<double> after_;  // interval time from t on
  std::vector<Job> jobs_;
  std::vector<int> alive_;  // by deadline
  std::priority_queue<Latest> must_;
  std::vector<int> urgent_;
  double room_ = 0;
  Filled result_;
};

}  // namespace

Filled fill(const IntervalWork& work) { return Fill(work).run(); }

}  // namespace cosched::cluster::bound
