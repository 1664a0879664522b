#include "cosched/dags/list/heteroprio.hpp"

#include <queue>
#include <set>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/data_arrival.hpp"
#include "cosched/dags/list/ranks.hpp"

namespace cosched::dags::list {
namespace {

// The order of ready tasks: GPUs take the first, CPUs the last.
using Affinity = std::tuple<int, double, double, int>;
// (-end, -longest path, task)
using SpoliationKey = std::tuple<double, double, int>;

std::vector<double> least_times(const Instance& instance) {
  std::vector<double> least(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    least[task] = std::min(instance.time(task, 0), instance.time(task, 1));
  return least;
}

class HeteroPrio {
 public:
  explicit HeteroPrio(const Instance& instance)
      : instance_(instance),
        path_(ranks_with_transfers(instance, least_times(instance))),
        plan_(instance.tasks()),
        run_count_(instance.tasks(), 0),
        missing_predecessors_(instance.tasks()) {
    for (int type = 0; type < 2; ++type)
      for (int unit = 0; unit < useful_units(instance, type); ++unit) {
        idle_units_[type].insert(idle_units_[type].end(), unit);
        has_tried_spoliation_[type].push_back(0);
      }
  }

  Plan run() {
    for (int task = 0; task < instance_.tasks(); ++task) {
      missing_predecessors_[task] = instance_.graph().predecessors(task).size();
      if (missing_predecessors_[task] == 0) release(task);
    }
    start_tasks(0);
    for (int steps = 0; !ends_.empty(); ++steps) {
      if (steps % 1024 == 0) check_interrupt();
      const double now = std::get<0>(ends_.top());
      for (; !ends_.empty() && std::get<0>(ends_.top()) == now; ends_.pop()) {
        const auto [end, task, run] = ends_.top();
        if (run == run_count_[task]) finish(task);
      }
      start_tasks(now);
    }
    return std::move(plan_);
  }

 private:
  Affinity affinity(int task) const {
    const double cpu = instance_.time(task, 0), gpu = instance_.time(task, 1);
    const int only_type = gpu == kInfinity ? 1 : cpu == kInfinity ? -1 : 0;
    const double acceleration = cpu == gpu ? 1 : cpu / gpu;
    return {only_type, -acceleration, acceleration >= 1 ? -path_[task] : path_[task], task};
  }

  void release(int task) { ready_tasks_.insert(affinity(task)); }

  void finish(int task) {
    running_tasks_[plan_.kind[task]].erase({-plan_.end[task], -path_[task], task});
    set_idle(plan_.kind[task], plan_.unit[task]);
    for (const int next : instance_.graph().successors(task)) {
      --missing_predecessors_[next];
      if (missing_predecessors_[next] == 0) release(next);
    }
  }

  void set_idle(int type, int unit) {
    idle_units_[type].insert(unit);
    has_tried_spoliation_[type][unit] = 0;
  }

  // Lets idle units start or spoliate tasks until none of them can.
  void start_tasks(double now) {
    for (bool any_started = true; any_started;) {
      any_started = false;
      for (const int type : {1, 0}) {
        const std::vector<int> units(idle_units_[type].begin(), idle_units_[type].end());
        for (const int unit : units)
          any_started = start_or_spoliate(type, unit, now) || any_started;
      }
    }
  }

  bool start_or_spoliate(int type, int unit, double now) {
    if (!ready_tasks_.empty()) {
      const auto first = type == 1 ? ready_tasks_.begin() : std::prev(ready_tasks_.end());
      const int task = std::get<3>(*first);
      if (instance_.can_run(task, type)) {
        ready_tasks_.erase(first);
        start(task, type, unit, now);
        return true;
      }
    }
    if (has_tried_spoliation_[type][unit])
      return false;  // tasks that have started since were offered to this unit first
    has_tried_spoliation_[type][unit] = 1;
    return spoliate(type, unit, now);
  }

  bool spoliate(int type, int unit, double now) {
    for (const auto& [minus_end, minus_path, task] : running_tasks_[1 - type]) {
      if (!instance_.can_run(task, type) || end_on(task, type, unit, now) >= -minus_end) continue;
      const int old_unit = plan_.unit[task];
      running_tasks_[1 - type].erase({minus_end, minus_path, task});
      start(task, type, unit, now);
      set_idle(1 - type, old_unit);
      return true;
    }
    return false;
  }

  double end_on(int task, int type, int unit, double now) const {
    return std::max(now, data_arrival_at(instance_, plan_, task, {type, unit})) +
           instance_.time(task, type);
  }

  void start(int task, int type, int unit, double now) {
    const double begin = std::max(now, data_arrival_at(instance_, plan_, task, {type, unit}));
    const double end = begin + instance_.time(task, type);
    plan_.set(task, type, unit, begin, end);
    idle_units_[type].erase(unit);
    running_tasks_[type].insert({-end, -path_[task], task});
    ends_.emplace(end, task, ++run_count_[task]);
  }

  const Instance& instance_;
  std::vector<double> path_;  // longest path of least times from the start of each task
  Plan plan_;
  std::vector<int> run_count_;             // how often each task was started
  std::vector<int> missing_predecessors_;  // predecessors that have not ended
  std::set<Affinity> ready_tasks_;
  std::set<int> idle_units_[2];
  std::vector<char>
      has_tried_spoliation_[2];  // this unit has found nothing to spoliate since it is idle
  std::set<SpoliationKey> running_tasks_[2];
  using RunEnd = std::tuple<double, int, int>;  // (end, task, number of its run)
  std::priority_queue<RunEnd, std::vector<RunEnd>, std::greater<>> ends_;
};

}  // namespace

Plan heteroprio(const Instance& instance) {
  if (instance.types() != 2)
    throw InvalidInstance("heteroprio is defined for 2 resource types, the instance has " +
                          std::to_string(instance.types()));
  return HeteroPrio(instance).run();
}

}  // namespace cosched::dags::list
