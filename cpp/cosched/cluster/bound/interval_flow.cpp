#include "cosched/cluster/bound/interval_flow.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::bound {
namespace {

constexpr double kFlowRounding = 1e-13;
constexpr int kUnreached = -1;

}  // namespace

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
