#include "cosched/cluster/bound/interval_flow.hpp"

#include <algorithm>
#include <utility>

namespace cosched::cluster::bound {
namespace {

// An arc with less capacity left than this share of it is full: what subtractions leave of 0.
constexpr double kFlowRounding = 1e-13;
constexpr int kUnreached = -1;

// For Poll: about a nanosecond each.
constexpr int kStepsPerPush = 50;

}  // namespace

IntervalFlow::IntervalFlow(IntervalWork work)
    : job_count_(static_cast<int>(work.need.size())),
      interval_count_(static_cast<int>(work.length.size())),
      work_(std::move(work)),
      users_(interval_count_) {
  begin_.assign(job_count_ + 1, 0);
  for (int i = 0; i < job_count_; ++i) {
    need_rounding_.push_back(need_rounding(work_.need[i]));
    begin_[i + 1] = begin_[i] + (work_.last[i] - work_.first[i]);
  }
  flow_.assign(begin_.back(), 0.0);
  for (const double room : work_.room) rounding_.push_back(room * kFlowRounding);
}

void IntervalFlow::place(int job, int interval, double amount) {
  add_flow(job, interval, amount);
  work_.need[job] -= amount;
  work_.room[interval] -= amount;
}

void IntervalFlow::augment() {
  for (;;) {
    const bool has_augmenting_path = compute_levels();
    if (!has_augmenting_path) return;
    job_next_ = work_.first;
    interval_next_.assign(interval_count_, 0);
    double sent = 0;
    for (int i = 0; i < job_count_; ++i) {
      if (job_level_[i] != 0 || work_.need[i] <= need_rounding_[i]) continue;
      const double part = push(i, work_.need[i]);
      work_.need[i] -= part;
      sent += part;
    }
    if (!(sent > 0)) return;
  }
}

double IntervalFlow::unserved() const {
  double total = 0;
  for (int i = 0; i < job_count_; ++i)
    if (work_.need[i] > need_rounding_[i]) total += work_.need[i];
  return total;
}

std::vector<char> IntervalFlow::reached_intervals() const {
  std::vector<char> is_reached(interval_count_);
  for (int t = 0; t < interval_count_; ++t) is_reached[t] = interval_level_[t] != kUnreached;
  return is_reached;
}

void IntervalFlow::add_flow(int job, int interval, double amount) {
  double& edge_flow = flow(job, interval);
  if (edge_flow == 0 && amount > 0) {
    std::vector<int>& users = users_[interval];
    const auto place = std::lower_bound(users.begin(), users.end(), job);
    if (place == users.end() || *place != job) users.insert(place, job);
  }
  edge_flow += amount;
}

bool IntervalFlow::compute_levels() {
  job_level_.assign(job_count_, kUnreached);
  interval_level_.assign(interval_count_, kUnreached);
  std::vector<int> jobs;
  std::vector<int> intervals;
  for (int i = 0; i < job_count_; ++i)
    if (work_.need[i] > need_rounding_[i]) {
      job_level_[i] = 0;
      jobs.push_back(i);
    }
  for (int level = 0; !jobs.empty(); level += 2) {
    check_interrupt();
    const bool has_room = reach_intervals(jobs, level + 1, intervals);
    if (has_room) return true;
    reach_jobs(intervals, level + 2, jobs);
  }
  return false;
}

bool IntervalFlow::reach_intervals(const std::vector<int>& jobs, int level,
                                   std::vector<int>& intervals) {
  intervals.clear();
  bool has_room = false;
  for (const int i : jobs)
    for (int t = work_.first[i]; t < work_.last[i]; ++t)
      if (interval_level_[t] == kUnreached && flow(i, t) + rounding_[t] < capacity(i, t)) {
        interval_level_[t] = level;
        intervals.push_back(t);
        has_room |= work_.room[t] > rounding_[t];
      }
  return has_room;
}

void IntervalFlow::reach_jobs(const std::vector<int>& intervals, int level,
                              std::vector<int>& jobs) {
  jobs.clear();
  for (const int t : intervals)
    for (const int i : users_[t])
      if (job_level_[i] == kUnreached && flow(i, t) > rounding_[t]) {
        job_level_[i] = level;
        jobs.push_back(i);
      }
}

double IntervalFlow::push(int job, double amount) {
  double sent = 0;
  for (int& t = job_next_[job]; t < work_.last[job]; ++t) {
    if (interval_level_[t] != job_level_[job] + 1) continue;
    const double free_capacity = capacity(job, t) - flow(job, t);
    if (free_capacity <= rounding_[t]) continue;
    const double part = push_through(t, std::min(amount - sent, free_capacity), interval_level_[t]);
    add_flow(job, t, part);
    sent += part;
    if (!(sent < amount)) return amount;
  }
  return sent;
}

double IntervalFlow::push_through(int interval, double amount, int level) {
  double sent = std::min(amount, std::max(0.0, work_.room[interval]));
  work_.room[interval] -= sent;
  // A job that becomes a user of the interval between two calls is of a lower level, and does not
  // count.
  const std::vector<int>& users = users_[interval];
  int& next = interval_next_[interval];
  auto user = std::lower_bound(users.begin(), users.end(), next);
  for (; sent < amount && user != users.end(); ++user) {
    const int other = *user;
    const double movable = job_level_[other] == level + 1 ? flow(other, interval) : 0;
    if (movable > rounding_[interval]) {
      poll_.count(kStepsPerPush);
      const double part = push(other, std::min(amount - sent, movable));
      flow(other, interval) -= part;
      sent += part;
      if (!(sent < amount)) return amount;
    }
    next = other + 1;
  }
  return sent;
}

}  // namespace cosched::cluster::bound
