#include "cosched/dags/list/list_transfers.hpp"

#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/list/arrival.hpp"

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

}  // namespace

Plan list_with_transfers(const Instance& instance, const Allocation& allocation,
                         const std::vector<double>& priority) {
  return ListSchedule(instance, allocation, priority).run();
}

}  // namespace cosched::dags::list
