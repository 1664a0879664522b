#include "cosched/dags/list/list_rules.hpp"

#include <set>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/idle_units.hpp"

namespace cosched::dags::list {
namespace {

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;
using Entry = std::pair<double, int>;  // (-priority, task)

// Tasks of a type by where their data is; one that has started may stand there still.
struct Waiting {
  MinHeap<Entry> anywhere;
  std::map<std::int64_t, MinHeap<Entry>> near;  // in one memory only
  std::set<int> idle;                           // units
};

class ListSchedule {
 public:
  ListSchedule(const Instance& instance, const Allocation& allocation,
               const std::vector<double>& priority)
      : instance_(instance),
        allocation_(allocation),
        priority_(priority),
        plan_(instance.tasks()),
        types_(instance.types()),
        arrivals_(instance.tasks()),
        missing_(instance.tasks()) {
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; unit < useful_units(instance, type); ++unit)
        types_[type].idle.insert(types_[type].idle.end(), unit);
  }

  Plan run() {
    for (int task = 0; task < instance_.tasks(); ++task) {
      missing_[task] = instance_.graph().predecessors(task).size();
      if (missing_[task] == 0) release(task);
    }
    for (int steps = 0; !events_.empty(); ++steps) {
      if (steps % 1024 == 0) check_interrupt();
      const double now = std::get<0>(events_.top());
      while (!events_.empty() && std::get<0>(events_.top()) == now) {
        const auto [time, what, task] = events_.top();
        events_.pop();
        happen(what, task);
      }
      for (int type = 0; type < instance_.types(); ++type)
        while (start_one(type, now)) {
        }
    }
    return std::move(plan_);
  }

 private:
  enum What { ended, is_near, is_anywhere };

  void release(int task) {
    const Arrival& ready = arrivals_[task] = arrival(instance_, plan_, task, allocation_[task]);
    if (ready.memory != kNoMemory) events_.emplace(ready.home, is_near, task);
    events_.emplace(ready.elsewhere, is_anywhere, task);
  }

  void happen(What what, int task) {
    Waiting& type = types_[allocation_[task]];
    if (what == is_anywhere) type.anywhere.emplace(-priority_[task], task);
    if (what == is_near) type.near[arrivals_[task].memory].emplace(-priority_[task], task);
    if (what != ended) return;
    type.idle.insert(plan_.unit[task]);
    for (const int next : instance_.graph().successors(task))
      if (--missing_[next] == 0) release(next);
  }

  const Entry* first(MinHeap<Entry>& heap) const {
    while (!heap.empty() && plan_.kind[heap.top().second] >= 0) heap.pop();
    return heap.empty() ? nullptr : &heap.top();
  }

  // A task, and the lowest idle unit that can take it.
  struct Start {
    Entry entry{kInfinity, -1};
    int unit = -1;
    void offer(const Entry& other, int on) {
      if (entry.second < 0 || other < entry) *this = {other, on};
    }
  };

  // The first task in the list whose data is in the memory of an idle unit only; looks at the units
  // or at the memories, whichever are fewer.
  void look_near(int number, Start& best) {
    Waiting& type = types_[number];
    const Transfers& transfers = instance_.transfers();
    if (type.idle.size() <= type.near.size()) {
      for (const int unit : type.idle) {
        const auto found = type.near.find(transfers.memory({number, unit}));
        const Entry* entry = found == type.near.end() ? nullptr : first(found->second);
        if (entry) best.offer(*entry, unit);
      }
      return;
    }
    for (auto item = type.near.begin(); item != type.near.end();) {
      const Entry* entry = first(item->second);
      if (!entry) {
        item = type.near.erase(item);
        continue;
      }
      int idle = -1;
      if (best.entry.second < 0 || *entry < best.entry)
        transfers.each_unit(number, item->first, [&](int unit) {
          if (idle < 0 && type.idle.count(unit) > 0) idle = unit;
        });
      if (idle >= 0) best.offer(*entry, idle);
      ++item;
    }
  }

  // The first task in the list that some idle unit of the type can take.
  bool start_one(int number, double now) {
    Waiting& type = types_[number];
    if (type.idle.empty()) return false;
    Start best;
    if (const Entry* entry = first(type.anywhere)) best.offer(*entry, *type.idle.begin());
    if (!type.near.empty()) look_near(number, best);
    const int task = best.entry.second;
    if (task < 0) return false;
    const double end = now + instance_.time(task, number);
    type.idle.erase(best.unit);
    plan_.set(task, number, best.unit, now, end);
    events_.emplace(end, ended, task);
    return true;
  }

  const Instance& instance_;
  const Allocation& allocation_;
  const std::vector<double>& priority_;
  Plan plan_;
  std::vector<Waiting> types_;
  std::vector<Arrival> arrivals_;
  std::vector<int> missing_;  // predecessors that have not ended
  MinHeap<std::tuple<double, What, int>> events_;
};

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

std::vector<UnitPool> make_pools(const Instance& instance) {
  std::vector<UnitPool> pools;
  for (const int units : instance.units()) pools.emplace_back(std::min(units, instance.tasks()));
  return pools;
}

std::vector<int> count_predecessors(const TaskGraph& graph) {
  std::vector<int> waiting(graph.tasks());
  for (int task = 0; task < graph.tasks(); ++task) waiting[task] = graph.predecessors(task).size();
  return waiting;
}

std::vector<double> durations(const Instance& instance, const Allocation& allocation) {
  std::vector<double> duration(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    duration[task] = instance.time(task, allocation[task]);
  return duration;
}

std::vector<double> ranks_of(const Instance& instance, const Allocation& allocation) {
  const Transfers& transfers = instance.transfers();
  const std::vector<double> duration = durations(instance, allocation);
  if (transfers.free()) return ranks(instance.graph(), duration);
  std::vector<double> rank(instance.tasks());
  const std::vector<int>& order = instance.graph().order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    double after = 0;
    int edge = transfers.first_out(*it);
    for (const int next : instance.graph().successors(*it))
      after = std::max(after,
                       transfers.type_cost(edge++, allocation[*it], allocation[next]) + rank[next]);
    rank[*it] = duration[*it] + after;
  }
  return rank;
}

// Ready tasks of one type for EST.  The earliest idle time of a type never goes back, so
// a task whose predecessors ended before it stays in `now`.
struct ReadyTasks {
  MinHeap<int> now;                       // could start as soon as a unit is idle
  MinHeap<std::pair<double, int>> later;  // (end of predecessors, task)

  /// (earliest possible start, task) of the best task, infinite if there is none.
  std::pair<double, int> best(double idle) {
    while (!later.empty() && later.top().first <= idle) {
      now.push(later.top().second);
      later.pop();
    }
    if (!now.empty()) return {idle, now.top()};
    return later.empty() ? std::pair(kInfinity, -1) : later.top();
  }
  void pop() { now.empty() ? later.pop() : now.pop(); }
};

// Units of each type that can be busy at once.
std::vector<int> units_for_tasks(const Instance& instance) {
  std::vector<int> units = instance.units();
  for (int& some : units) some = std::min(some, instance.tasks());
  return units;
}

}  // namespace

Plan list_with_transfers(const Instance& instance, const Allocation& allocation,
                         const std::vector<double>& priority) {
  return ListSchedule(instance, allocation, priority).run();
}

Plan est(const Instance& instance, const Allocation& allocation) {
  require_allocation(instance, allocation);
  if (!instance.transfers().free()) return est_with_transfers(instance, allocation);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<UnitPool> pools = make_pools(instance);
  std::vector<ReadyTasks> ready(instance.types());
  std::vector<int> waiting = count_predecessors(graph);
  std::vector<double> released(instance.tasks(), 0);
  for (int task = 0; task < instance.tasks(); ++task)
    if (waiting[task] == 0) ready[allocation[task]].later.emplace(0, task);

  for (int done = 0; done < instance.tasks(); ++done) {
    if (done % 4096 == 0) check_interrupt();
    std::pair<double, int> first{kInfinity, -1};
    for (int type = 0; type < instance.types(); ++type)
      first = std::min(first, ready[type].best(pools[type].earliest()));
    const auto [start, task] = first;
    const int type = allocation[task];
    const double end = start + instance.time(task, type);
    ready[type].pop();
    plan.set(task, type, pools[type].take(start, end), start, end);
    for (const int next : graph.successors(task)) {
      released[next] = std::max(released[next], end);
      if (--waiting[next] == 0) ready[allocation[next]].later.emplace(released[next], next);
    }
  }
  return plan;
}

Plan list_schedule(const Instance& instance, const Allocation& allocation,
                   const std::vector<double>& priority) {
  require_allocation(instance, allocation);
  if (!instance.transfers().free()) return list_with_transfers(instance, allocation, priority);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<UnitPool> pools = make_pools(instance);
  std::vector<int> free_units = units_for_tasks(instance);
  std::vector<MinHeap<std::pair<double, int>>> ready(instance.types());  // (-priority, task)
  MinHeap<std::pair<double, int>> running;                               // (end, task)
  std::vector<int> waiting = count_predecessors(graph);
  for (int task = 0; task < instance.tasks(); ++task)
    if (waiting[task] == 0) ready[allocation[task]].emplace(-priority[task], task);

  double now = 0;
  for (int events = 0;; ++events) {
    if (events % 1024 == 0) check_interrupt();
    for (int type = 0; type < instance.types(); ++type)
      for (; free_units[type] > 0 && !ready[type].empty(); --free_units[type]) {
        const int task = ready[type].top().second;
        ready[type].pop();
        const double end = now + instance.time(task, type);
        plan.set(task, type, pools[type].take(now, end), now, end);
        running.emplace(end, task);
      }
    if (running.empty()) return plan;
    for (now = running.top().first; !running.empty() && running.top().first == now; running.pop()) {
      const int task = running.top().second;
      ++free_units[allocation[task]];
      for (const int next : graph.successors(task))
        if (--waiting[next] == 0) ready[allocation[next]].emplace(-priority[next], next);
    }
  }
}

Plan ols(const Instance& instance, const Allocation& allocation) {
  require_allocation(instance, allocation);
  return list_schedule(instance, allocation, ranks_of(instance, allocation));
}

namespace {

// What a ready task can do now; the smallest is chosen.
struct Offer {
  double key = kInfinity, second = 0, third = 0;
  int task = -1, type = -1;
  bool operator>(const Offer& other) const {
    return std::tie(key, second, third, task) >
           std::tie(other.key, other.second, other.third, other.task);
  }
};

// Repeatedly the ready task of smallest offer.  Units only get busier, so an offer only grows: one
// that is still what the queue says is the smallest of all.
template <class Rule>
Plan choose_among_ready(const Instance& instance, Rule offer) {
  const TaskGraph& graph = instance.graph();
  const int types = instance.types();
  IdleUnits units(instance);
  std::vector<Arrival> arrivals(static_cast<std::size_t>(instance.tasks()) * types);
  const auto look = [&](int task) {
    Offer best;
    for (int type = 0; type < types; ++type) {
      if (!instance.can_run(task, type)) continue;
      const double start = units.earliest(type, arrivals[task * types + type]).time;
      const Offer one = offer(task, type, start);
      if (best.task < 0 || !(one > best)) best = one;
    }
    return best;
  };
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> ready;
  const auto release = [&](int task) {
    for (int type = 0; type < types; ++type)
      arrivals[task * types + type] = units.arrival(task, type);
    ready.push(look(task));
  };
  std::vector<int> waiting;
  for (int task = 0; task < graph.tasks(); ++task) {
    waiting.push_back(graph.predecessors(task).size());
    if (waiting[task] == 0) release(task);
  }
  for (int steps = 0; !ready.empty(); ++steps) {
    if (steps % 1024 == 0) check_interrupt();
    const Offer stale = ready.top(), now = look(stale.task);
    ready.pop();
    if (now > stale) {
      ready.push(now);
      continue;
    }
    units.place(now.task, now.type,
                units.earliest(now.type, arrivals[now.task * types + now.type]));
    for (const int next : graph.successors(now.task))
      if (--waiting[next] == 0) release(next);
  }
  return units.plan();
}

}  // namespace

Plan etf(const Instance& instance) {
  const std::vector<double> level = ranks(instance.graph(), mean_times(instance));
  return choose_among_ready(instance, [&](int task, int type, double start) {
    return Offer{start, -level[task], start + instance.time(task, type), task, type};
  });
}

Plan min_min(const Instance& instance) {
  return choose_among_ready(instance, [&](int task, int type, double start) {
    return Offer{start + instance.time(task, type), 0, 0, task, type};
  });
}

Plan est_with_transfers(const Instance& instance, const Allocation& allocation) {
  return choose_among_ready(instance, [&](int task, int type, double start) {
    return Offer{type == allocation[task] ? start : kInfinity, 0, 0, task, type};
  });
}

}  // namespace cosched::dags::list
