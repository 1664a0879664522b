#include "cosched/dags/list/heteroprio.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {
namespace {

// Where a task stands among the ready ones: GPUs take from the begin, CPUs from the end.
using Affinity = std::tuple<int, double, double, int>;
// (-end, -longest path, task)
using Running = std::tuple<double, double, int>;

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
        runs_(instance.tasks(), 0),
        missing_(instance.tasks()) {
    for (int type = 0; type < 2; ++type)
      for (int unit = 0; unit < useful_units(instance, type); ++unit) {
        idle_[type].insert(idle_[type].end(), unit);
        tried_[type].push_back(0);
      }
  }

  Plan run() {
    for (int task = 0; task < instance_.tasks(); ++task)
      if ((missing_[task] = instance_.graph().predecessors(task).size()) == 0) release(task);
    give_work(0);
    for (int steps = 0; !ends_.empty(); ++steps) {
      if (steps % 1024 == 0) check_interrupt();
      const double now = std::get<0>(ends_.top());
      for (; !ends_.empty() && std::get<0>(ends_.top()) == now; ends_.pop()) {
        const auto [end, task, run] = ends_.top();
        if (run == runs_[task]) finish(task);
      }
      give_work(now);
    }
    return std::move(plan_);
  }

 private:
  Affinity affinity(int task) const {
    const double cpu = instance_.time(task, 0), gpu = instance_.time(task, 1);
    const int only = gpu == kInfinity ? 1 : cpu == kInfinity ? -1 : 0;
    const double acceleration = cpu == gpu ? 1 : cpu / gpu;
    return {only, -acceleration, acceleration >= 1 ? -path_[task] : path_[task], task};
  }

  void release(int task) { ready_.insert(affinity(task)); }

  void finish(int task) {
    running_[plan_.kind[task]].erase({-plan_.end[task], -path_[task], task});
    set_idle(plan_.kind[task], plan_.unit[task]);
    for (const int next : instance_.graph().successors(task))
      if (--missing_[next] == 0) release(next);
  }

  void set_idle(int type, int unit) {
    idle_[type].insert(unit);
    tried_[type][unit] = 0;
  }

  // Ends where no idle unit finds anything.
  void give_work(double now) {
    for (bool again = true; again;) {
      again = false;
      for (const int type : {1, 0}) {
        const std::vector<int> units(idle_[type].begin(), idle_[type].end());
        for (const int unit : units) again = take(type, unit, now) || again;
      }
    }
  }

  bool take(int type, int unit, double now) {
    if (!ready_.empty()) {
      const auto first = type == 1 ? ready_.begin() : std::prev(ready_.end());
      const int task = std::get<3>(*first);
      if (instance_.can_run(task, type)) {
        ready_.erase(first);
        start(task, type, unit, now);
        return true;
      }
    }
    if (tried_[type][unit]) return false;  // what began since then was offered to it first
    tried_[type][unit] = 1;
    return spoliate(type, unit, now);
  }

  bool spoliate(int type, int unit, double now) {
    for (const auto& [minus_end, minus_path, task] : running_[1 - type]) {
      if (!instance_.can_run(task, type) || end_on(task, type, unit, now) >= -minus_end) continue;
      const int left = plan_.unit[task];
      running_[1 - type].erase({minus_end, minus_path, task});
      start(task, type, unit, now);
      set_idle(1 - type, left);
      return true;
    }
    return false;
  }

  double end_on(int task, int type, int unit, double now) const {
    return std::max(now, arrival_at(instance_, plan_, task, {type, unit})) +
           instance_.time(task, type);
  }

  void start(int task, int type, int unit, double now) {
    const double begin = std::max(now, arrival_at(instance_, plan_, task, {type, unit}));
    const double end = begin + instance_.time(task, type);
    plan_.set(task, type, unit, begin, end);
    idle_[type].erase(unit);
    running_[type].insert({-end, -path_[task], task});
    ends_.emplace(end, task, ++runs_[task]);
  }

  const Instance& instance_;
  std::vector<double> path_;  // longest, of least times, from the begin of each task
  Plan plan_;
  std::vector<int> runs_;     // begun
  std::vector<int> missing_;  // predecessors that have not ended
  std::set<Affinity> ready_;
  std::set<int> idle_[2];
  std::vector<char> tried_[2];  // this unit has found nothing to spoliate since it is idle
  std::set<Running> running_[2];
  using End = std::tuple<double, int, int>;  // (end, task, number of its run)
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

Plan heteroprio(const Instance& instance) {
  if (instance.types() != 2)
    throw InvalidInstance("heteroprio is defined for 2 resource types, the instance has " +
                          std::to_string(instance.types()));
  return HeteroPrio(instance).run();
}

}  // namespace cosched::dags::list
