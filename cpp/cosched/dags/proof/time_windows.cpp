#include "cosched/dags/proof/time_windows.hpp"

#include <algorithm>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::dags::proof {

TimeWindows::TimeWindows(const Instance& instance, double makespan)
    : OpenTypes(instance, makespan),
      head_(instance.tasks(), 0.0),
      tail_(instance.tasks(), 0.0),
      least_(instance.tasks()),
      load_heads_(instance.graph()) {
  for (int task = 0; task < instance.tasks(); ++task) refresh(task);
}

void TimeWindows::refresh(int task) {
  const double* p = instance().row(task);
  least_[task] = kInfinity;
  for (int type = 0; type < instance().types(); ++type)
    if (open(task, type)) least_[task] = std::min(least_[task], p[type]);
}

void TimeWindows::close(int task, int type) {
  if (close_type(task, type)) refresh(task);
}

void TimeWindows::relax_heads() {
  for (const int task : instance().graph().order()) {
    double head = head_[task];
    for (const int before : instance().graph().predecessors(task))
      head = std::max(head, head_[before] + least_[before]);
    head_[task] = head;
  }
}

void TimeWindows::relax_tails() {
  const std::vector<int>& order = instance().graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    double tail = tail_[*task];
    for (const int after : instance().graph().successors(*task))
      tail = std::max(tail, tail_[after] + least_[after]);
    tail_[*task] = tail;
  }
}

// False: a task has no type left.  `shorter`: a task has lost its fastest type.
bool TimeWindows::close_what_does_not_fit(double slack, bool& shorter) {
  const double limit = makespan() * (1 + slack);
  for (int task = 0; task < instance().tasks(); ++task) {
    const double* p = instance().row(task);
    const double room = limit - head_[task] - tail_[task];
    const double least = least_[task];
    for (int type = 0; type < instance().types(); ++type)
      if (open(task, type) && p[type] > room) close(task, type);
    if (least_[task] == kInfinity) return false;
    shorter = shorter || least_[task] > least;
  }
  return true;
}

bool TimeWindows::prune(double slack) {
  for (bool changed = true; changed;) {
    check_interrupt();
    changed = false;
    relax_heads();
    relax_tails();
    if (!close_what_does_not_fit(slack, changed)) return false;
  }
  return true;
}

bool TimeWindows::raise(const std::vector<double>& weights, bool backward) {
  const std::vector<double> work = least_work(*this, weights);
  std::vector<double>& bound = backward ? tail_ : head_;
  bool any = false;
  std::vector<int> order = instance().graph().order();
  if (backward) std::reverse(order.begin(), order.end());
  Poll poll;
  for (const int task : order) {
    const TaskGraph::Range direct = load_heads_.before(task, backward);
    for (const int other : direct)
      bound[task] = std::max(bound[task], bound[other] + least_[other]);
    if (direct.size() < 2) continue;
    const std::int64_t at = load_heads_.steps();
    const double found = load_heads_.of(task, work, bound, backward);
    poll.count(load_heads_.steps() - at);
    any = any || found > bound[task] + 1e-9 * makespan();
    bound[task] = std::max(bound[task], found);
  }
  return any;
}

}  // namespace cosched::dags::proof
