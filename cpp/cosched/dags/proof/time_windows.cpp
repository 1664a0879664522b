#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {

TimeWindows::TimeWindows(const Instance& instance, double makespan)
    : OpenTypes(instance, makespan),
      head_(instance.tasks(), 0.0),
      tail_(instance.tasks(), 0.0),
      least_time_(instance.tasks()),
      load_heads_(instance.graph()) {
  for (int task = 0; task < instance.tasks(); ++task) update_least_time(task);
}

bool TimeWindows::prune(double tolerance) {
  for (bool needs_another_round = true; needs_another_round;) {
    check_interrupt();
    needs_another_round = false;
    propagate_heads();
    propagate_tails();
    if (!close_unfit_types(tolerance, needs_another_round)) return false;
  }
  return true;
}

bool TimeWindows::tighten_by_load(const std::vector<double>& weights, bool backward) {
  const std::vector<double> work = least_work(*this, weights);
  std::vector<double>& bound = backward ? tail_ : head_;
  bool any_tightened = false;
  std::vector<int> order = instance().graph().order();
  if (backward) std::reverse(order.begin(), order.end());
  Poll poll;
  for (const int task : order) {
    const TaskGraph::TaskRange neighbours = load_heads_.preceding_tasks(task, backward);
    for (const int other : neighbours)
      bound[task] = std::max(bound[task], bound[other] + least_time_[other]);
    if (neighbours.size() < 2) continue;
    const std::int64_t steps_before = load_heads_.steps();
    const double load_head = load_heads_.load_head(task, work, bound, backward);
    poll.count(load_heads_.steps() - steps_before);
    any_tightened = any_tightened || load_head > bound[task] + kExactTolerance * makespan();
    bound[task] = std::max(bound[task], load_head);
  }
  return any_tightened;
}

void TimeWindows::propagate_heads() {
  for (const int task : instance().graph().order()) {
    double head = head_[task];
    for (const int before : instance().graph().predecessors(task))
      head = std::max(head, head_[before] + least_time_[before]);
    head_[task] = head;
  }
}

void TimeWindows::propagate_tails() {
  const std::vector<int>& order = instance().graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    double tail = tail_[*task];
    for (const int after : instance().graph().successors(*task))
      tail = std::max(tail, tail_[after] + least_time_[after]);
    tail_[*task] = tail;
  }
}

// Closes types that do not fit; sets `lost_fastest_type` where a task has lost its fastest type.
// Returns false where a task has no type left.
bool TimeWindows::close_unfit_types(double tolerance, bool& lost_fastest_type) {
  const double limit = makespan() * (1 + tolerance);
  for (int task = 0; task < instance().tasks(); ++task) {
    const double* p = instance().row(task);
    const double longest_time = limit - head_[task] - tail_[task];
    const double least_before = least_time_[task];
    for (int type = 0; type < instance().types(); ++type)
      if (is_open(task, type) && p[type] > longest_time) close_type(task, type);
    if (least_time_[task] == kInfinity) return false;
    lost_fastest_type = lost_fastest_type || least_time_[task] > least_before;
  }
  return true;
}

void TimeWindows::update_least_time(int task) {
  const double* p = instance().row(task);
  least_time_[task] = kInfinity;
  for (int type = 0; type < instance().types(); ++type)
    if (is_open(task, type)) least_time_[task] = std::min(least_time_[task], p[type]);
}

}  // namespace cosched::dags::proof
