#include "cosched/moldable/list/list_scheduler.hpp"

#include <algorithm>
#include <limits>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"

namespace cosched::moldable::list {
namespace {

constexpr int kStarted = std::numeric_limits<int>::max();
// Poll steps (a nanosecond each) of one time at which processors become free.
constexpr std::int64_t kPollStepsPerEvent = 100;

}  // namespace

void ListScheduler::build_tree(const std::vector<int>& procs) {
  const int n = static_cast<int>(procs.size());
  leaves_ = 1;
  while (leaves_ < n) leaves_ *= 2;
  least_procs_.assign(2 * static_cast<std::size_t>(leaves_), kStarted);
  std::copy(procs.begin(), procs.end(), least_procs_.begin() + leaves_);
  for (int node = leaves_ - 1; node >= 1; --node) least_procs_[node] = least_procs_below(node);
}

int ListScheduler::least_procs_below(int node) const {
  const int left_child = 2 * node, right_child = left_child + 1;
  return std::min(least_procs_[left_child], least_procs_[right_child]);
}

int ListScheduler::find_first_fit(int idle) const {
  if (least_procs_[1] > idle) return -1;
  int node = 1;
  while (node < leaves_) {
    const int left_child = 2 * node;
    node = least_procs_[left_child] <= idle ? left_child : left_child + 1;
  }
  return node - leaves_;
}

void ListScheduler::remove(int item) {
  int node = leaves_ + item;
  least_procs_[node] = kStarted;
  while (node > 1) {
    node /= 2;
    const int value = least_procs_below(node);
    if (value == least_procs_[node]) break;
    least_procs_[node] = value;
  }
}

void ListScheduler::push_idle(double time, int procs) {
  idle_heap_.push_back({time, procs});
  std::push_heap(idle_heap_.begin(), idle_heap_.end());
}

ListScheduler::IdleProcessors ListScheduler::pop_idle() {
  std::pop_heap(idle_heap_.begin(), idle_heap_.end());
  const IdleProcessors top = idle_heap_.back();
  idle_heap_.pop_back();
  return top;
}

void ListScheduler::schedule(ListRule rule, const std::vector<int>& procs,
                             const std::vector<double>& length, std::vector<double>& start,
                             const std::vector<double>& free_times) {
  start.resize(procs.size());
  idle_heap_.clear();
  COSCHED_ASSERT(procs.size() == length.size());
  if (free_times.empty()) push_idle(0, machines_);
  for (const double when : free_times) push_idle(when, 1);
  if (rule == ListRule::list)
    schedule_by_list(procs, length, start);
  else
    schedule_by_append(procs, length, start);
}

void ListScheduler::schedule_by_list(const std::vector<int>& procs,
                                     const std::vector<double>& length,
                                     std::vector<double>& start) {
  build_tree(procs);
  int idle = 0;
  Poll poll;
  for (std::size_t waiting = procs.size(); waiting > 0;) {
    require_progress(!idle_heap_.empty(), "list schedule");
    const double now = idle_heap_.front().time;
    while (!idle_heap_.empty() && idle_heap_.front().time <= now) idle += pop_idle().procs;
    while (idle > 0) {
      const int item = find_first_fit(idle);
      if (item < 0) break;
      start[item] = now;
      idle -= procs[item];
      remove(item);
      push_idle(now + length[item], procs[item]);
      --waiting;
    }
    poll.count(kPollStepsPerEvent);
  }
}

void ListScheduler::schedule_by_append(const std::vector<int>& procs,
                                       const std::vector<double>& length,
                                       std::vector<double>& start) {
  for (std::size_t k = 0; k < procs.size(); ++k) {
    int missing = procs[k];
    while (missing > 0) {
      const IdleProcessors next = pop_idle();
      start[k] = next.time;
      if (next.procs > missing) push_idle(next.time, next.procs - missing);
      missing -= std::min(next.procs, missing);
    }
    push_idle(start[k] + length[k], procs[k]);
    if (k % 1024 == 0) check_interrupt();
  }
}

}  // namespace cosched::moldable::list
