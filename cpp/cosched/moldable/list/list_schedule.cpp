#include "cosched/moldable/list/list_schedule.hpp"

#include <algorithm>
#include <limits>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::list {
namespace {

constexpr int kStarted = std::numeric_limits<int>::max();

}  // namespace

void ListScheduler::build(const std::vector<int>& procs) {
  const int n = static_cast<int>(procs.size());
  leaves_ = 1;
  while (leaves_ < n) leaves_ *= 2;
  least_.assign(2 * static_cast<std::size_t>(leaves_), kStarted);
  std::copy(procs.begin(), procs.end(), least_.begin() + leaves_);
  for (int node = leaves_ - 1; node >= 1; --node) least_[node] = least_below(node);
}

int ListScheduler::least_below(int node) const {
  const int left = 2 * node, right = left + 1;
  return std::min(least_[left], least_[right]);
}

int ListScheduler::first_fit(int idle) const {
  if (least_[1] > idle) return -1;
  int node = 1;
  while (node < leaves_) {
    const int left = 2 * node;
    node = least_[left] <= idle ? left : left + 1;
  }
  return node - leaves_;
}

void ListScheduler::remove(int item) {
  int node = leaves_ + item;
  least_[node] = kStarted;
  while (node > 1) {
    node /= 2;
    const int value = least_below(node);
    if (value == least_[node]) break;
    least_[node] = value;
  }
}

void ListScheduler::push(double time, int procs) {
  later_.push_back({time, procs});
  std::push_heap(later_.begin(), later_.end());
}

ListScheduler::Idle ListScheduler::pop() {
  std::pop_heap(later_.begin(), later_.end());
  const Idle top = later_.back();
  later_.pop_back();
  return top;
}

void ListScheduler::run(Rule rule, const std::vector<int>& procs, const std::vector<double>& length,
                        std::vector<double>& start) {
  start.resize(procs.size());
  later_.clear();
  if (rule == Rule::list)
    run_list(procs, length, start);
  else
    run_append(procs, length, start);
}

void ListScheduler::run_list(const std::vector<int>& procs, const std::vector<double>& length,
                             std::vector<double>& start) {
  build(procs);
  int idle = machines_;
  std::size_t waiting = procs.size();
  double now = 0;
  Poll poll;
  for (;;) {
    for (int item; idle > 0 && (item = first_fit(idle)) >= 0; --waiting) {
      start[item] = now;
      idle -= procs[item];
      remove(item);
      push(now + length[item], procs[item]);
    }
    if (waiting == 0) return;
    require_progress(!later_.empty(), "list schedule");
    now = later_.front().time;
    while (!later_.empty() && later_.front().time <= now) idle += pop().procs;
    poll.count(100);
  }
}

void ListScheduler::run_append(const std::vector<int>& procs, const std::vector<double>& length,
                               std::vector<double>& start) {
  push(0, machines_);
  for (std::size_t k = 0; k < procs.size(); ++k) {
    int missing = procs[k];
    while (missing > 0) {
      const Idle next = pop();
      start[k] = next.time;
      if (next.procs > missing) push(next.time, next.procs - missing);
      missing -= std::min(next.procs, missing);
    }
    push(start[k] + length[k], procs[k]);
    if (k % 1024 == 0) check_interrupt();
  }
}

Placement list_schedule(const Instance& instance, const Allotment& procs,
                        const std::vector<int>& order, Rule rule) {
  instance.require_no_edges("a list of jobs");
  if (instance.sharing() != nullptr) {
    Decoder decoder(instance);
    return decoder.run({order, decoder.fitting(procs), 0, {}});
  }
  const std::size_t n = order.size();
  std::vector<int> counts(n);
  std::vector<double> length(n), start;
  for (std::size_t k = 0; k < n; ++k) {
    counts[k] = instance.used(order[k], procs[order[k]]);
    length[k] = instance.time(order[k], counts[k]);
  }
  ListScheduler(instance.machines()).run(rule, counts, length, start);
  Placement placement = unplaced(instance.jobs());
  for (std::size_t k = 0; k < n; ++k) place(instance, placement, order[k], counts[k], start[k]);
  return placement;
}

}  // namespace cosched::moldable::list
