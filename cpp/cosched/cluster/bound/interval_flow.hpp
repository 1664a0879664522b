// Transportation of jobs' work to consecutive intervals: a max-flow whose edges are implicit
// (job i to every interval of its window).  Its memory is that of its edges, so it is built
// only for the intervals where the greedy fill left something undone.
#pragma once

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::cluster::bound {

// A greedy fill of consecutive intervals with jobs' work, from left to right.

/// Job i needs need[i] = rate[i] x seconds in intervals first[i] .. last[i]-1, at most
/// rate[i] x length[t] in interval t; interval t has room[t] for all.
struct IntervalWork {
  std::vector<double> length, room;  // by interval: seconds, node seconds
  std::vector<int> first, last;      // by job
  std::vector<double> rate, need;    // by job: nodes, node seconds
};

/// A need below this is rounding.
inline double need_rounding(double need) { return need * 1e-12; }

/// The job has `speed` nodes in the intervals begin .. end-1; there may be several of one.
struct Run {
  int job, begin, end;
  double speed;
};

struct Filled {
  std::vector<double> left;  // by job: what it still needs
  std::vector<Run> runs;
};

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

/// In each interval what must run now (what a job could not get later), then by deadline.
/// O(jobs that run, summed over intervals + n log n) time; memory for the runs.
inline Filled fill(const IntervalWork& work) { return Fill(work).run(); }

/// Max-flow from a given state.
class IntervalFlow {
 public:
  /// `work` with its original needs and rooms; nothing is placed yet.
  explicit IntervalFlow(IntervalWork work)
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

  void place(int job, int interval, double amount) {
    add(job, interval, amount);
    work_.need[job] -= amount;
    work_.room[interval] -= amount;
  }

  /// The job gets this elsewhere.
  void serve(int job, double amount) { work_.need[job] -= amount; }
  /// Blocking flows (Dinic) until no unserved work can be moved.  O(edges) a phase.
  void augment() {
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

  /// Node seconds that found no place.
  double unserved() const {
    double total = 0;
    for (int i = 0; i < jobs_; ++i)
      if (work_.need[i] > need_eps_[i]) total += work_.need[i];
    return total;
  }

  /// After augment(): intervals that the unserved jobs can reach; all of them are full, and
  /// every job that could use another interval more already does.
  std::vector<char> cut() const {
    std::vector<char> reached(intervals_);
    for (int t = 0; t < intervals_; ++t) reached[t] = interval_level_[t] != kUnreached;
    return reached;
  }

  /// After augment(): whether an unserved job can reach the job (by moving its work).
  bool reached(int job) const { return job_level_[job] >= 0; }

 private:
  static constexpr double kFlowRounding = 1e-13;
  static constexpr int kUnreached = -1;

  double& flow(int job, int interval) { return flow_[begin_[job] + interval - work_.first[job]]; }
  double flow(int job, int interval) const {
    return flow_[begin_[job] + interval - work_.first[job]];
  }
  double capacity(int job, int interval) const { return work_.rate[job] * work_.length[interval]; }
  void add(int job, int interval, double amount) {
    double& now = flow(job, interval);
    if (now == 0 && amount > 0) {
      std::vector<int>& users = users_[interval];
      const auto at = std::lower_bound(users.begin(), users.end(), job);
      if (at == users.end() || *at != job) users.insert(at, job);
    }
    now += amount;
  }

  // Breadth-first levels from the unserved jobs; whether an interval with room is reached.
  bool levels() {
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
  bool reach_intervals(const std::vector<int>& jobs, int level, std::vector<int>& intervals) {
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
  void reach_jobs(const std::vector<int>& intervals, int level, std::vector<int>& jobs) {
    jobs.clear();
    for (const int t : intervals)
      for (const int i : users_[t])
        if (job_level_[i] == kUnreached && flow(i, t) > eps_[t]) {
          job_level_[i] = level;
          jobs.push_back(i);
        }
  }

  // Sends up to `amount` more of the job's work along level edges; returns what was sent.
  double push(int job, double amount) {
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
  double push_through(int interval, double amount, int level) {
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

  int jobs_, intervals_;
  IntervalWork work_;                    // need and room: what is left
  std::vector<std::int64_t> begin_;      // of the job's edges
  std::vector<double> flow_;             // node seconds, by edge
  std::vector<std::vector<int>> users_;  // by interval: jobs that have or had something of it
  std::vector<double> eps_;              // by interval: below this an amount is rounding
  std::vector<double> need_eps_;         // by job
  std::vector<int> job_level_, interval_level_;
  std::vector<int> job_next_;       // current edge of the blocking flow
  std::vector<int> interval_next_;  // the user to look at next, or one before it
  Poll poll_;
};

}  // namespace cosched::cluster::bound
