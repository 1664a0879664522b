#include "cosched/dags/list/runtime.hpp"

#include <functional>
#include <queue>
#include <set>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {
namespace {

// What a unit has to do.
struct Worker {
  double until = 0;   // expected end of its queue
  double queued = 0;  // seconds of what waits, transfers that cannot be hidden included
  bool running = false;
  std::set<std::tuple<double, int, int>> queue;  // (-priority, arrival, task); of dmdas
};

// Units of a type in one memory: the one whose queue ends first is the best of them.
struct Alike {
  int type = 0;
  std::set<std::pair<double, int>> units;  // (until, unit)
};

class Dmda {
 public:
  // `priority`: null for dmda, whose queues are in order of arrival.
  Dmda(const Instance& instance, const std::vector<double>* priority, const DmdaWeights& weights)
      : instance_(instance),
        priority_(priority),
        weights_(weights),
        free_(instance.transfers().free()),
        plan_(instance.tasks()),
        missing_(instance.tasks()),
        waits_(instance.tasks(), 0),
        workers_(instance.types()) {
    std::map<std::pair<int, std::int64_t>, int> number;
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; unit < useful_units(instance, type); ++unit) {
        const std::int64_t memory = free_ ? 0 : instance.transfers().memory({type, unit});
        const auto [found, fresh] =
            number.emplace(std::pair(type, memory), static_cast<int>(alike_.size()));
        if (fresh) alike_.push_back({type, {}});
        alike_[found->second].units.emplace(0, unit);
        group_.resize(instance.types());
        group_[type].push_back(found->second);
        workers_[type].emplace_back();
      }
  }

  Plan run() {
    for (int task = 0; task < instance_.tasks(); ++task)
      if ((missing_[task] = instance_.graph().predecessors(task).size()) == 0) push(task, 0);
    for (int steps = 0; !ends_.empty(); ++steps) {
      if (steps % 1024 == 0) check_interrupt();
      const double now = ends_.top().first;
      std::vector<int> ready;
      while (!ends_.empty() && ends_.top().first == now) {
        const int task = ends_.top().second;
        ends_.pop();
        if (priority_) pop({plan_.kind[task], plan_.unit[task]}, now);
        for (const int next : instance_.graph().successors(task))
          if (--missing_[next] == 0) ready.push_back(next);
      }
      std::sort(ready.begin(), ready.end());
      for (const int task : ready) push(task, now);
    }
    return std::move(plan_);
  }

 private:
  void push(int task, double now) {
    struct Expected {
      int group;
      double start, end, moving;
    };
    std::vector<Expected> found;
    double least = kInfinity;
    for (int g = 0; g < static_cast<int>(alike_.size()); ++g) {
      const Alike& alike = alike_[g];
      if (!instance_.can_run(task, alike.type)) continue;
      const auto [until, unit] = *alike.units.begin();
      const Place place{alike.type, unit};
      const double start = std::max({now, until, arrival_at(instance_, plan_, task, place)});
      const double end = start + instance_.time(task, alike.type);
      found.push_back({g, start, end, moving(task, place)});
      least = std::min(least, end);
    }
    const auto rank = [&](const Expected& one) {
      const Alike& alike = alike_[one.group];
      return std::tuple(weights_.alpha * (one.end - least) + weights_.beta * one.moving,
                        -alike.type, *alike.units.begin());
    };
    const Expected best =
        *std::min_element(found.begin(), found.end(),
                          [&](const Expected& a, const Expected& b) { return rank(a) < rank(b); });
    Alike& alike = alike_[best.group];
    const Place place{alike.type, alike.units.begin()->second};
    Worker& worker = workers_[place.type][place.unit];
    if (!priority_) {
      set_until(place, best.end);
      begin(task, place, best.start);
      return;
    }
    waits_[task] = best.end - std::max(now, worker.until);
    worker.queue.emplace(-(*priority_)[task], arrived_++, task);
    worker.queued += waits_[task];
    set_until(place, best.end);
    if (!worker.running) pop(place, now);
  }

  // What all its transfers to a unit take together, as StarPU counts them.
  double moving(int task, Place place) const {
    if (free_) return 0;
    const int* edge = instance_.transfers().in_edges(task);
    double sum = 0;
    for (const int before : instance_.graph().predecessors(task))
      sum += instance_.transfers().cost(*edge++, {plan_.kind[before], plan_.unit[before]}, place);
    return sum;
  }

  void set_until(Place place, double until) {
    Alike& alike = alike_[group_[place.type][place.unit]];
    double& stored = workers_[place.type][place.unit].until;
    alike.units.erase({stored, place.unit});
    stored = until;
    alike.units.emplace(stored, place.unit);
  }

  // The unit is idle: it takes the first of its queue, and knows better when that will end.
  void pop(Place place, double now) {
    Worker& worker = workers_[place.type][place.unit];
    worker.running = !worker.queue.empty();
    if (!worker.running) return;
    const int task = std::get<2>(*worker.queue.begin());
    worker.queue.erase(worker.queue.begin());
    worker.queued = worker.queue.empty() ? 0 : worker.queued - waits_[task];
    begin(task, place, std::max(now, arrival_at(instance_, plan_, task, place)));
    set_until(place, plan_.end[task] + worker.queued);
  }

  void begin(int task, Place place, double start) {
    const double end = start + instance_.time(task, place.type);
    plan_.set(task, place.type, place.unit, start, end);
    ends_.emplace(end, task);
  }

  const Instance& instance_;
  const std::vector<double>* priority_;
  DmdaWeights weights_;
  bool free_;
  Plan plan_;
  std::vector<int> missing_;   // predecessors that have not ended
  std::vector<double> waits_;  // what each task has added to its queue
  std::vector<std::vector<Worker>> workers_;
  std::vector<Alike> alike_;
  std::vector<std::vector<int>> group_;  // of each unit
  int arrived_ = 0;
  using End = std::pair<double, int>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

void require_weights(const DmdaWeights& weights) {
  const auto good = [](double weight) { return weight >= 0 && weight < kInfinity; };
  if (!good(weights.alpha) || !good(weights.beta))
    throw InvalidInstance("alpha = " + to_text(weights.alpha) +
                          ", beta = " + to_text(weights.beta) + ": expected finite numbers >= 0");
}

}  // namespace

Plan dmda(const Instance& instance, const DmdaWeights& weights) {
  require_weights(weights);
  return Dmda(instance, nullptr, weights).run();
}

Plan dmdas(const Instance& instance, const std::vector<double>& priority,
           const DmdaWeights& weights) {
  require_weights(weights);
  if (static_cast<int>(priority.size()) != instance.tasks())
    throw InvalidInstance("priority has " + std::to_string(priority.size()) +
                          " entries: expected one for each of the " +
                          std::to_string(instance.tasks()) + " tasks");
  for (std::size_t task = 0; task < priority.size(); ++task)
    if (!(priority[task] - priority[task] == 0))
      throw InvalidInstance("priority[" + std::to_string(task) + "] = " + to_text(priority[task]) +
                            ": expected a finite number");
  return Dmda(instance, &priority, weights).run();
}

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
