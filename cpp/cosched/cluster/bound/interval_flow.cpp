#include "cosched/cluster/bound/interval_flow.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

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
    std::vector<int> by_start =
        sorted_numbers(jobs_.size(), [&](int a, int b) { return work_.first[a] < work_.first[b]; });
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

constexpr double kFlowRounding = 1e-13;
constexpr int kUnreached = -1;

}  // namespace

Filled fill(const IntervalWork& work) { return Fill(work).run(); }

IntervalFlow::IntervalFlow(IntervalWork work)
    : jobs_(static_cast<int>(work.need.size())),
      intervals_(static_cast<int>(work.length.size())),
      work_(std::move(work)),
      users_(intervals_) {
  begin_.assign(jobs_ + 1, 0);
  for (int i = 0; i < jobs_; ++i) {
    need_eps_.push_back(need_rounding(work_.need[i]));
    begin_[i + 1] = begin_[i] + (work_.last[i] - work_.first[i]);
  }
  flow_.assign(begin_.back(), 0.0);
  for (const double room : work_.room) eps_.push_back(room * kFlowRounding);
}

void IntervalFlow::place(int job, int interval, double amount) {
  add(job, interval, amount);
  work_.need[job] -= amount;
  work_.room[interval] -= amount;
}

void IntervalFlow::add(int job, int interval, double amount) {
  double& now = flow(job, interval);
  if (now == 0 && amount > 0) {
    std::vector<int>& users = users_[interval];
    const auto at = std::lower_bound(users.begin(), users.end(), job);
    if (at == users.end() || *at != job) users.insert(at, job);
  }
  now += amount;
}

// Breadth-first levels from the unserved jobs; whether an interval with room is reached.
bool IntervalFlow::levels() {
  job_level_.assign(jobs_, kUnreached);
  interval_level_.assign(intervals_, kUnreached);
  std::vector<int> jobs, intervals;
  for (int i = 0; i < jobs_; ++i)
    if (work_.need[i] > need_eps_[i]) {
      job_level_[i] = 0;
      jobs.push_back(i);
    }
  for (int level = 0; !jobs.empty(); level += 2) {
    check_interrupt();
    if (reach_intervals(jobs, level + 1, intervals)) return true;
    reach_jobs(intervals, level + 2, jobs);
  }
  return false;
}

// The intervals of this level: where a job of the last one can run longer.  Whether one has room.
bool IntervalFlow::reach_intervals(const std::vector<int>& jobs, int level,
                                   std::vector<int>& intervals) {
  intervals.clear();
  bool room = false;
  for (const int i : jobs)
    for (int t = work_.first[i]; t < work_.last[i]; ++t)
      if (interval_level_[t] == kUnreached && flow(i, t) + eps_[t] < capacity(i, t)) {
        interval_level_[t] = level;
        intervals.push_back(t);
        room |= work_.room[t] > eps_[t];
      }
  return room;
}

// The jobs of this level: those that would leave an interval of the last one.
void IntervalFlow::reach_jobs(const std::vector<int>& intervals, int level,
                              std::vector<int>& jobs) {
  jobs.clear();
  for (const int t : intervals)
    for (const int i : users_[t])
      if (job_level_[i] == kUnreached && flow(i, t) > eps_[t]) {
        job_level_[i] = level;
        jobs.push_back(i);
      }
}

// Sends up to `amount` more of the job's work along level edges; returns what was sent.
double IntervalFlow::push(int job, double amount) {
  double sent = 0;
  for (int& t = job_next_[job]; t < work_.last[job]; ++t) {
    if (interval_level_[t] != job_level_[job] + 1) continue;
    const double spare = capacity(job, t) - flow(job, t);
    if (spare <= eps_[t]) continue;
    const double part = push_through(t, std::min(amount - sent, spare), interval_level_[t]);
    add(job, t, part);
    sent += part;
    if (!(sent < amount)) return amount;
  }
  return sent;
}

// Makes room for up to `amount` in the interval: free room, or other jobs' work moved on.
double IntervalFlow::push_through(int interval, double amount, int level) {
  double sent = std::min(amount, std::max(0.0, work_.room[interval]));
  work_.room[interval] -= sent;
  // Who comes to use an interval between two calls is of a lower level, and does not count.
  const std::vector<int>& users = users_[interval];
  int& next = interval_next_[interval];
  auto at = std::lower_bound(users.begin(), users.end(), next);
  for (; sent < amount && at != users.end(); next = *at++ + 1) {
    const int other = *at;
    if (job_level_[other] != level + 1) continue;
    const double movable = flow(other, interval);
    if (movable <= eps_[interval]) continue;
    poll_.count(50);
    const double part = push(other, std::min(amount - sent, movable));
    flow(other, interval) -= part;
    sent += part;
    if (!(sent < amount)) return amount;
  }
  return sent;
}

void IntervalFlow::augment() {
  while (levels()) {
    job_next_ = work_.first;
    interval_next_.assign(intervals_, 0);
    double sent = 0;
    for (int i = 0; i < jobs_; ++i) {
      if (job_level_[i] != 0 || work_.need[i] <= need_eps_[i]) continue;
      const double part = push(i, work_.need[i]);
      work_.need[i] -= part;
      sent += part;
    }
    if (!(sent > 0)) return;
  }
}

double IntervalFlow::unserved() const {
  double total = 0;
  for (int i = 0; i < jobs_; ++i)
    if (work_.need[i] > need_eps_[i]) total += work_.need[i];
  return total;
}

std::vector<char> IntervalFlow::cut() const {
  std::vector<char> reached(intervals_);
  for (int t = 0; t < intervals_; ++t) reached[t] = interval_level_[t] != kUnreached;
  return reached;
}

}  // namespace cosched::cluster::bound
