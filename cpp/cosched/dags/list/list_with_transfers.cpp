#include "cosched/dags/list/list_with_transfers.hpp"

#include <map>
#include <set>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/data_arrival.hpp"
#include "cosched/dags/list/min_heap.hpp"

namespace cosched::dags::list {
namespace {

using ListEntry = std::pair<double, int>;  // (-priority, task)

// Ready tasks of one type by where their data is.  Heaps may still hold tasks that have started.
struct WaitingTasks {
  MinHeap<ListEntry> anywhere;
  std::map<std::int64_t, MinHeap<ListEntry>> in_one_memory;  // by memory: data only there
  std::set<int> idle_units;
};

class ListSchedule {
 public:
  ListSchedule(const Instance& instance, const Allocation& allocation,
               const std::vector<double>& priority)
      : instance_(instance),
        allocation_(allocation),
        priority_(priority),
        plan_(instance.tasks()),
        waiting_by_type_(instance.types()),
        arrivals_(instance.tasks()),
        missing_predecessors_(instance.tasks()) {
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; unit < useful_units(instance, type); ++unit)
        waiting_by_type_[type].idle_units.insert(waiting_by_type_[type].idle_units.end(), unit);
  }

  Plan run() {
    for (int task = 0; task < instance_.tasks(); ++task) {
      missing_predecessors_[task] = instance_.graph().predecessors(task).size();
      if (missing_predecessors_[task] == 0) release(task);
    }
    for (int steps = 0; !events_.empty(); ++steps) {
      if (steps % 1024 == 0) check_interrupt();
      const double now = std::get<0>(events_.top());
      while (!events_.empty() && std::get<0>(events_.top()) == now) {
        const auto [time, kind, task] = events_.top();
        events_.pop();
        process_event(kind, task);
      }
      for (int type = 0; type < instance_.types(); ++type)
        while (start_first_task(type, now)) {
        }
    }
    return std::move(plan_);
  }

 private:
  enum TaskEventKind { task_ended, data_near, data_anywhere };

  void release(int task) {
    const DataArrival& ready = arrivals_[task] =
        data_arrival(instance_, plan_, task, allocation_[task]);
    if (ready.memory != kNoMemory) events_.emplace(ready.in_memory, data_near, task);
    events_.emplace(ready.elsewhere, data_anywhere, task);
  }

  void process_event(TaskEventKind kind, int task) {
    WaitingTasks& type = waiting_by_type_[allocation_[task]];
    if (kind == data_anywhere) type.anywhere.emplace(-priority_[task], task);
    if (kind == data_near)
      type.in_one_memory[arrivals_[task].memory].emplace(-priority_[task], task);
    if (kind != task_ended) return;
    type.idle_units.insert(plan_.unit[task]);
    for (const int next : instance_.graph().successors(task)) {
      --missing_predecessors_[next];
      if (missing_predecessors_[next] == 0) release(next);
    }
  }

  const ListEntry* first_unstarted(MinHeap<ListEntry>& heap) const {
    while (!heap.empty() && plan_.kind[heap.top().second] >= 0) heap.pop();
    return heap.empty() ? nullptr : &heap.top();
  }

  // A task, and the lowest idle unit that can take it.
  struct TaskStart {
    ListEntry entry{kInfinity, -1};
    int unit = -1;
    void offer(const ListEntry& other, int candidate_unit) {
      if (entry.second < 0 || other < entry) *this = {other, candidate_unit};
    }
  };

  // Offers to `best` the first tasks of the list whose data is in one memory only and an idle unit
  // has it.  Goes through the idle units or the memories, whichever are fewer.
  void find_start_near(int type_number, TaskStart& best) {
    WaitingTasks& type = waiting_by_type_[type_number];
    const Transfers& transfers = instance_.transfers();
    if (type.idle_units.size() <= type.in_one_memory.size()) {
      for (const int unit : type.idle_units) {
        const auto heap_in_memory = type.in_one_memory.find(transfers.memory({type_number, unit}));
        const ListEntry* entry = heap_in_memory == type.in_one_memory.end()
                                     ? nullptr
                                     : first_unstarted(heap_in_memory->second);
        if (entry) best.offer(*entry, unit);
      }
      return;
    }
    for (auto item = type.in_one_memory.begin(); item != type.in_one_memory.end();) {
      const ListEntry* entry = first_unstarted(item->second);
      if (!entry) {
        item = type.in_one_memory.erase(item);
        continue;
      }
      int idle = -1;
      if (best.entry.second < 0 || *entry < best.entry)
        transfers.visit_units_in(type_number, item->first, [&](int unit) {
          if (idle < 0 && type.idle_units.count(unit) > 0) idle = unit;
        });
      if (idle >= 0) best.offer(*entry, idle);
      ++item;
    }
  }

  // Starts the first task of the list that some idle unit of the type can take; returns whether
  // there is one.
  bool start_first_task(int type_number, double now) {
    WaitingTasks& type = waiting_by_type_[type_number];
    if (type.idle_units.empty()) return false;
    TaskStart best;
    if (const ListEntry* entry = first_unstarted(type.anywhere))
      best.offer(*entry, *type.idle_units.begin());
    if (!type.in_one_memory.empty()) find_start_near(type_number, best);
    const int task = best.entry.second;
    if (task < 0) return false;
    const double end = now + instance_.time(task, type_number);
    type.idle_units.erase(best.unit);
    plan_.set(task, type_number, best.unit, now, end);
    events_.emplace(end, task_ended, task);
    return true;
  }

  const Instance& instance_;
  const Allocation& allocation_;
  const std::vector<double>& priority_;
  Plan plan_;
  std::vector<WaitingTasks> waiting_by_type_;
  std::vector<DataArrival> arrivals_;
  std::vector<int> missing_predecessors_;  // predecessors that have not ended
  MinHeap<std::tuple<double, TaskEventKind, int>> events_;
};

}  // namespace

Plan list_with_transfers(const Instance& instance, const Allocation& allocation,
                         const std::vector<double>& priority) {
  return ListSchedule(instance, allocation, priority).run();
}

}  // namespace cosched::dags::list
