#include "cosched/dags/proof/time_windows.hpp"

#include <algorithm>
#include <functional>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::dags::proof {

TimeWindows::TimeWindows(const Instance& instance, double makespan)
    : instance_(&instance),
      makespan_(makespan),
      head_(instance.tasks(), 0.0),
      tail_(instance.tasks(), 0.0),
      least_(instance.tasks()),
      open_(instance.times().size()),
      only_type_(instance.tasks()) {
  for (int task = 0; task < instance.tasks(); ++task) {
    for (int type = 0; type < instance.types(); ++type)
      open_[pair(task, type)] = instance.can_run(task, type);
    refresh(task);
    undecided_ += only_type_[task] < 0;
  }
}

void TimeWindows::refresh(int task) {
  const double* p = instance_->row(task);
  least_[task] = kInfinity;
  int count = 0;
  for (int type = 0; type < instance_->types(); ++type)
    if (open(task, type)) {
      least_[task] = std::min(least_[task], p[type]);
      only_type_[task] = type;
      ++count;
    }
  if (count != 1) only_type_[task] = -1;
}

void TimeWindows::close(int task, int type) {
  if (!open(task, type)) return;
  const bool undecided = only_type_[task] < 0;
  open_[pair(task, type)] = 0;
  refresh(task);
  undecided_ -= undecided && only_type_[task] >= 0;
}

void TimeWindows::relax_heads() {
  for (const int task : instance_->graph().order()) {
    double head = head_[task];
    for (const int before : instance_->graph().predecessors(task))
      head = std::max(head, head_[before] + least_[before]);
    head_[task] = head;
  }
}

void TimeWindows::relax_tails() {
  const std::vector<int>& order = instance_->graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    double tail = tail_[*task];
    for (const int after : instance_->graph().successors(*task))
      tail = std::max(tail, tail_[after] + least_[after]);
    tail_[*task] = tail;
  }
}

// False: a task has no type left.  `shorter`: a task has lost its fastest type.
bool TimeWindows::close_what_does_not_fit(double slack, bool& shorter) {
  const double limit = makespan_ * (1 + slack);
  for (int task = 0; task < instance_->tasks(); ++task) {
    const double* p = instance_->row(task);
    const double room = limit - head_[task] - tail_[task];
    const double least = least_[task];
    for (int type = 0; type < instance_->types(); ++type)
      if (open(task, type) && p[type] > room) close(task, type);
    if (least_[task] == kInfinity) return false;
    shorter = shorter || least_[task] > least;
  }
  return true;
}

bool TimeWindows::prune(double slack) {
  for (bool changed = true; changed;) {
    check_interrupt();
    steps_ += 6LL * instance_->tasks() + 2LL * instance_->graph().edges();
    changed = false;
    relax_heads();
    relax_tails();
    if (!close_what_does_not_fit(slack, changed)) return false;
  }
  return true;
}

// The best load head (tail) of one task.
double TimeWindows::raised(int task, const std::vector<double>& work, bool backward) {
  const std::vector<double>& bound = backward ? tail_ : head_;
  ancestors_.clear();
  stack_.assign(1, task);
  ++stamp_;
  std::int64_t scanned = 0;
  while (!stack_.empty()) {
    const auto next = before(stack_.back(), backward);
    stack_.pop_back();
    scanned += next.size();
    for (const int other : next) {
      if (seen_[other] == stamp_) continue;
      seen_[other] = stamp_;
      stack_.push_back(other);
      if (work[other] > 0) ancestors_.emplace_back(bound[other], work[other]);
    }
  }
  std::sort(ancestors_.begin(), ancestors_.end(), std::greater<>());
  steps_ += 2 * scanned + 40 * static_cast<std::int64_t>(ancestors_.size());
  double best = 0, sum = 0;
  for (const auto& [head, load] : ancestors_) {
    sum += load;
    best = std::max(best, head + sum);
  }
  return best;
}

bool TimeWindows::raise(const std::vector<double>& weights, bool backward) {
  const int n = instance_->tasks();
  std::vector<double> work(n);
  for (int task = 0; task < n; ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance_->types(); ++type)
      if (open(task, type))
        least =
            std::min(least, weights[type] * instance_->time(task, type) / instance_->units(type));
    work[task] = least;
  }
  seen_.assign(n, 0);
  stamp_ = 0;
  std::vector<double>& bound = backward ? tail_ : head_;
  bool any = false;
  std::vector<int> order = instance_->graph().order();
  if (backward) std::reverse(order.begin(), order.end());
  Poll poll;
  for (const int task : order) {
    const auto direct = before(task, backward);
    for (const int other : direct)
      bound[task] = std::max(bound[task], bound[other] + least_[other]);
    if (direct.size() < 2) continue;
    const std::int64_t at = steps_;
    const double found = raised(task, work, backward);
    poll.count(steps_ - at);
    any = any || found > bound[task] + 1e-9 * makespan_;
    bound[task] = std::max(bound[task], found);
  }
  return any;
}

}  // namespace cosched::dags::proof
