#include "cosched/dags/search/branch_and_bound.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/time_grain.hpp"
#include "cosched/dags/search/dominance_table.hpp"
#include "cosched/dags/search/grouped_units.hpp"

namespace cosched::dags::search {
namespace {

class BranchAndBound {
 public:
  BranchAndBound(const Instance& instance, const std::vector<double>& prices,
                 std::int64_t max_nodes, OptimalResult& best, const std::function<void()>& pause,
                 const BranchAndBoundParams& params)
      : instance_(instance),
        grouped_units_(instance),
        prices_(prices),
        is_transfer_free_(instance.transfers().is_free()),
        grain_(is_transfer_free_ ? time_grain(instance) : 0),
        max_nodes_(max_nodes),
        params_(params),
        best_(best),
        pause_(pause),
        plan_(instance.tasks()),
        memory_of_task_(instance.tasks(), -1),
        idle_from_(grouped_units_.units(), 0.0),
        tasks_in_memory_(grouped_units_.groups_of_memory.size(), 0),
        head_(instance.tasks(), instance.types(), kInfinity),
        tail_(instance.tasks(), instance.types(), kInfinity),
        dominance_table_(params.max_state_bytes) {
    COSCHED_ASSERT(best.plan.tasks() == instance.tasks());
    compute_tails();
    set_cutoff(best.plan.makespan());
  }

  // Returns whether the search is complete: neither nodes nor memory have run out.
  bool run() {
    search_depth_first();
    return best_.nodes <= max_nodes_ && !is_out_of_memory_;
  }

 private:
  // A task that may be next, on a unit of a group.  `tail` is the longest path after its end.
  struct ScheduleChild {
    int task, group, unit;
    double start, end, tail;
  };
  // A partial schedule on the path from the root.
  struct SearchLevel {
    std::vector<ScheduleChild> children;
    std::size_t next_child = 0;                 // index of the first child not yet placed
    double makespan = 0;                        // of the partial schedule
    std::optional<ScheduleChild> placed_child;  // the child whose subtree is searched now
    double idle_before = 0;                     // idle_from_ of its unit before it was placed
  };

  // Calls pause_(), and lowers the cutoff where that has put a better plan into best_.
  void pause_for_better_plan() {
    const double before = best_.plan.makespan();
    pause_();
    if (best_.plan.makespan() < before) set_cutoff(best_.plan.makespan());
  }

  // Only schedules with a makespan below the cutoff are of interest from now on.  Where all times
  // are multiples of grain_ so are makespans, and the cutoff lies half a grain below the best.
  void set_cutoff(double makespan) {
    cutoff_ = grain_ > 0 ? makespan - 0.5 * grain_ : makespan * (1 - kExactTolerance);
  }

  double least_cost(int edge, int from, int to) const {
    return is_transfer_free_ ? 0 : instance_.transfers().least_cost(edge, from, to);
  }

  // tail_(task, type): the longest path of least times after the end of the task on the type.
  void compute_tails() {
    const TaskGraph& graph = instance_.graph();
    for (auto task = graph.order().rbegin(); task != graph.order().rend(); ++task)
      for (int type = 0; type < instance_.types(); ++type) {
        double tail = 0;
        int edge = is_transfer_free_ ? 0 : instance_.transfers().first_out_edge(*task);
        for (const int next : graph.successors(*task)) {
          double least = kInfinity;
          for (int other = 0; other < instance_.types(); ++other)
            if (instance_.can_run(next, other))
              least = std::min(least, least_cost(edge, type, other) + instance_.time(next, other) +
                                          tail_(next, other));
          tail = std::max(tail, least);
          ++edge;
        }
        tail_(*task, type) = tail;
      }
  }

  bool is_placed(int task) const { return memory_of_task_[task] >= 0; }

  // When the data of a task is in a memory of units of a type.  Requires that all its predecessors
  // are placed.
  double data_ready(int task, int type, int memory) const {
    const int* edge = is_transfer_free_ ? nullptr : instance_.transfers().in_edges(task);
    double time = 0;
    for (const int before : instance_.graph().predecessors(task)) {
      const double transfer_time =
          is_transfer_free_ || memory_of_task_[before] == memory
              ? 0
              : instance_.transfers().cost_between_memories(*edge, plan_.kind[before], type);
      time = std::max(time, plan_.end[before] + transfer_time);
      ++edge;
    }
    return time;
  }

  // Whether no schedule below the cutoff continues the partial one with starts of at least `now`.
  bool is_hopeless(double now) {
    compute_heads(now);
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (is_placed(task)) continue;
      bool has_type = false;
      for (int type = 0; type < instance_.types(); ++type)
        has_type = has_type || can_fit(task, type);
      if (!has_type) return true;
    }
    return is_overloaded(now);
  }

  // Whether a task may run on a type below the cutoff, by the heads of compute_heads().
  bool can_fit(int task, int type) const {
    return head_(task, type) + instance_.time(task, type) + tail_(task, type) < cutoff_;
  }

  // head_(task, type): the earliest start of each task that is not placed, given the partial
  // schedule.
  void compute_heads(double now) {
    first_idle_.assign(instance_.types(), kInfinity);
    for (int unit = 0; unit < grouped_units_.units(); ++unit) {
      double& least = first_idle_[grouped_units_.places[unit].type];
      least = std::min(least, std::max(now, idle_from_[unit]));
    }
    for (const int task : instance_.graph().order()) {
      if (is_placed(task)) continue;
      for (int type = 0; type < instance_.types(); ++type)
        head_(task, type) = instance_.can_run(task, type)
                                ? std::max(first_idle_[type], path_head(task, type))
                                : kInfinity;
    }
  }

  // The earliest start of a task on a type by the ends of its predecessors, placed or at their
  // heads.
  double path_head(int task, int type) const {
    const int* edge = is_transfer_free_ ? nullptr : instance_.transfers().in_edges(task);
    double time = 0;
    for (const int before : instance_.graph().predecessors(task)) {
      const int number = is_transfer_free_ ? 0 : *edge++;
      if (is_placed(before)) {
        const bool can_share_memory =
            is_transfer_free_ || grouped_units_.has_type[memory_of_task_[before]][type];
        time = std::max(time, plan_.end[before] +
                                  (can_share_memory ? 0
                                                    : instance_.transfers().cost_between_memories(
                                                          number, plan_.kind[before], type)));
        continue;
      }
      double least = kInfinity;
      for (int other = 0; other < instance_.types(); ++other)
        if (head_(before, other) < kInfinity)
          least = std::min(least, head_(before, other) + instance_.time(before, other) +
                                      least_cost(number, other, type));
      time = std::max(time, least);
    }
    return time;
  }

  // Whether the remaining tasks need more than the units have before the cutoff, at some prices of
  // a second of each type.  For two types an optimal price makes one task cost the same on both.
  bool is_overloaded(double now) {
    available_time_.assign(instance_.types(), 0.0);
    for (int unit = 0; unit < grouped_units_.units(); ++unit)
      available_time_[grouped_units_.places[unit].type] +=
          std::max(0.0, cutoff_ - std::max(now, idle_from_[unit]));
    std::vector<double>& price = trial_price_;
    for (int type = 0; type < instance_.types(); ++type) {
      price.assign(instance_.types(), 0.0);
      price[type] = 1;
      if (violates_load(price)) return true;
    }
    if (violates_load(prices_)) return true;
    if (instance_.types() != 2) {
      price.assign(instance_.types(), 1.0);
      return violates_load(price);
    }
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (is_placed(task) || !can_fit(task, 0) || !can_fit(task, 1) || instance_.time(task, 1) <= 0)
        continue;
      price.assign({1.0, instance_.time(task, 0) / instance_.time(task, 1)});
      if (violates_load(price)) return true;
    }
    return false;
  }

  // Whether the remaining tasks, each on its cheapest type, cost more than all available time.
  bool violates_load(const std::vector<double>& price) const {
    double needed_time = 0, available_time = 0;
    for (int type = 0; type < instance_.types(); ++type)
      available_time += price[type] * available_time_[type];
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (is_placed(task)) continue;
      double least = kInfinity;
      for (int type = 0; type < instance_.types(); ++type)
        if (can_fit(task, type)) least = std::min(least, price[type] * instance_.time(task, type));
      needed_time += least;
    }
    return needed_time > available_time * (1 + kExactTolerance);
  }

  // The children of the partial schedule, by increasing starts, then decreasing tails.
  std::vector<ScheduleChild> make_children(double now) const {
    std::vector<ScheduleChild> children;
    double first_end = kInfinity;
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (is_placed(task)) continue;
      const TaskGraph::TaskRange predecessors = instance_.graph().predecessors(task);
      if (std::any_of(predecessors.begin(), predecessors.end(),
                      [&](int i) { return !is_placed(i); }))
        continue;
      for (int g = 0; g < static_cast<int>(grouped_units_.groups.size()); ++g) {
        const UnitGroup& group = grouped_units_.groups[g];
        if (!instance_.can_run(task, group.type) || is_symmetric_empty(group.memory)) continue;
        const int unit =
            *std::min_element(group.units.begin(), group.units.end(),
                              [&](int a, int b) { return idle_from_[a] < idle_from_[b]; });
        const double start = std::max(idle_from_[unit], data_ready(task, group.type, group.memory));
        const double end = start + instance_.time(task, group.type);
        if (start < now) continue;
        if (is_transfer_free_) first_end = std::min(first_end, end);
        const double tail = tail_(task, group.type);
        if (end + tail < cutoff_) children.push_back({task, g, unit, start, end, tail});
      }
    }
    std::erase_if(children, [&](const ScheduleChild& child) { return child.start > first_end; });
    std::stable_sort(
        children.begin(), children.end(), [](const ScheduleChild& a, const ScheduleChild& b) {
          return std::tuple(a.start, -a.tail, a.end) < std::tuple(b.start, -b.tail, b.end);
        });
    return children;
  }

  // Whether the memory holds no task and neither does an earlier memory with the same units: then
  // the earlier one stands for both.
  bool is_symmetric_empty(int memory) const {
    if (tasks_in_memory_[memory] > 0) return false;
    for (int other = 0; other < memory; ++other)
      if (tasks_in_memory_[other] == 0 &&
          grouped_units_.memory_shape[other] == grouped_units_.memory_shape[memory])
        return true;
    return false;
  }

  // Whether data of a placed task may arrive after `now` at a successor that is not placed: then
  // the place of the task matters for what follows.
  bool has_live_data(int task, double now) const {
    int edge = is_transfer_free_ ? 0 : instance_.transfers().first_out_edge(task);
    for (const int next : instance_.graph().successors(task)) {
      const int number = edge++;
      if (is_placed(next)) continue;
      if (plan_.end[task] > now) return true;
      for (int type = 0; !is_transfer_free_ && type < instance_.types(); ++type)
        if (instance_.can_run(next, type) &&
            plan_.end[task] +
                    instance_.transfers().cost_between_memories(number, plan_.kind[task], type) >
                now)
          return true;
    }
    return false;
  }

  // Whether an earlier state dominates this one; otherwise keeps this one.  The key of a state
  // tells which tasks are placed and where those with live data are; its numbers are the times from
  // which units idle and the ends of tasks with live data.  Memories with the same units are sorted
  // by shape, first live task and these times, so that states which differ by an exchange of memories are one state.
  bool is_dominated(double now, double makespan) {
    const int memories = static_cast<int>(grouped_units_.groups_of_memory.size());
    std::vector<int> first_live_task(memories, instance_.tasks());  // of each memory
    std::vector<int> number_of_memory(memories);                    // in memory_order
    std::string key;
    for (int task = 0; task < instance_.tasks(); ++task) {
      const bool is_live = is_placed(task) && has_live_data(task, now);
      if (is_live)
        first_live_task[memory_of_task_[task]] =
            std::min(first_live_task[memory_of_task_[task]], task);
      key.push_back(static_cast<char>(is_live ? 2 : is_placed(task) ? 1 : 0));
    }
    std::vector<std::vector<double>> idle_times(memories);
    for (int memory = 0; memory < memories; ++memory)
      for (const int g : grouped_units_.groups_of_memory[memory]) {
        const std::size_t from = idle_times[memory].size();
        for (const int unit : grouped_units_.groups[g].units)
          idle_times[memory].push_back(std::max(now, idle_from_[unit]));
        std::sort(idle_times[memory].begin() + static_cast<std::ptrdiff_t>(from),
                  idle_times[memory].end());
      }
    std::vector<int> memory_order(memories);
    for (int memory = 0; memory < memories; ++memory) memory_order[memory] = memory;
    std::sort(memory_order.begin(), memory_order.end(), [&](int a, int b) {
      return std::tie(grouped_units_.memory_shape[a], first_live_task[a], idle_times[a]) <
             std::tie(grouped_units_.memory_shape[b], first_live_task[b], idle_times[b]);
    });
    std::vector<double> state{now, makespan};
    for (int k = 0; k < memories; ++k) {
      number_of_memory[memory_order[k]] = k;
      state.insert(state.end(), idle_times[memory_order[k]].begin(),
                   idle_times[memory_order[k]].end());
    }
    for (int task = 0; task < instance_.tasks(); ++task)
      if (key[task] == 2) {
        state.push_back(plan_.end[task]);
        if (!is_transfer_free_)
          key += "," + std::to_string(plan_.kind[task]) + ":" +
                 std::to_string(number_of_memory[memory_of_task_[task]]);
      }
    return dominance_table_.is_dominated(key, state);
  }

  // Depth first, with an explicit stack, because there are as many levels as tasks.
  void search_depth_first() {
    std::vector<SearchLevel> levels;
    open_children_ = 0;
    enter_level(levels, 0, 0);
    while (!levels.empty()) {
      SearchLevel& level = levels.back();
      if (level.placed_child) undo_child(*level.placed_child, level.idle_before);
      level.placed_child = take_next_child(level);
      if (!level.placed_child) {
        open_children_ -= level.children.size();
        levels.pop_back();
        continue;
      }
      const ScheduleChild child = *level.placed_child;
      level.idle_before = place_child(child);
      enter_level(levels, child.start, std::max(level.makespan, child.end));
    }
  }

  // The next child of a level that is still below the cutoff, which earlier children may have
  // lowered; none where the level is done, or nodes or memory have run out.
  std::optional<ScheduleChild> take_next_child(SearchLevel& level) const {
    if (best_.nodes > max_nodes_ || is_out_of_memory_) return std::nullopt;
    while (level.next_child < level.children.size()) {
      const ScheduleChild& child = level.children[level.next_child];
      ++level.next_child;
      if (child.end + child.tail < cutoff_) return child;
    }
    return std::nullopt;
  }

  // Examines the partial schedule of plan_, and adds a level with its children where one of them
  // may lead below the cutoff.
  void enter_level(std::vector<SearchLevel>& levels, double now, double makespan) {
    ++best_.nodes;
    if (best_.nodes % 64 == 0) {
      check_interrupt();
      if (pause_) pause_for_better_plan();
    }
    if (best_.nodes > max_nodes_) return;
    if (static_cast<int>(levels.size()) == instance_.tasks()) {
      best_.plan = plan_;
      set_cutoff(makespan);
      return;
    }
    if (is_hopeless(now) || is_dominated(now, makespan)) return;
    SearchLevel level;
    level.children = make_children(now);
    level.makespan = makespan;
    open_children_ += level.children.size();
    is_out_of_memory_ = open_children_ > params_.max_open_children;
    levels.push_back(std::move(level));
  }

  // Adds the task of a child to plan_; returns idle_from_ of its unit before that, for
  // undo_child().
  double place_child(const ScheduleChild& child) {
    const UnitGroup& group = grouped_units_.groups[child.group];
    const double idle_before = idle_from_[child.unit];
    idle_from_[child.unit] = child.end;
    plan_.set(child.task, group.type, grouped_units_.places[child.unit].unit, child.start,
              child.end);
    memory_of_task_[child.task] = group.memory;
    ++tasks_in_memory_[group.memory];
    return idle_before;
  }

  void undo_child(const ScheduleChild& child, double idle_before) {
    --tasks_in_memory_[grouped_units_.groups[child.group].memory];
    memory_of_task_[child.task] = -1;
    idle_from_[child.unit] = idle_before;
  }

  const Instance& instance_;
  GroupedUnits grouped_units_;
  const std::vector<double>& prices_;
  bool is_transfer_free_;
  double grain_;  // of all times where transfers are free, else 0
  std::int64_t max_nodes_;
  BranchAndBoundParams params_;
  OptimalResult& best_;
  const std::function<void()>& pause_;
  double cutoff_ = kInfinity;
  Plan plan_;
  std::vector<int> memory_of_task_;     // -1: not placed
  std::vector<double> idle_from_;       // of each unit
  std::vector<int> tasks_in_memory_;    // number of tasks placed in each memory
  Table head_, tail_;                   // (task, type)
  std::vector<double> first_idle_;      // of each type: the first time from which a unit idles
  std::vector<double> available_time_;  // of each type: of all its units, before the cutoff
  std::vector<double> trial_price_;     // of each type
  DominanceTable dominance_table_;
  std::size_t open_children_ = 0;  // of all levels
  bool is_out_of_memory_ = false;
};

}  // namespace

bool branch_and_bound(const Instance& instance, const std::vector<double>& prices,
                      OptimalResult& best, std::int64_t max_nodes,
                      const std::function<void()>& pause, const BranchAndBoundParams& params) {
  return BranchAndBound(instance, prices, max_nodes, best, pause, params).run();
}

}  // namespace cosched::dags::search
