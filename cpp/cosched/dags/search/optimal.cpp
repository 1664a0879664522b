#include "cosched/dags/search/optimal.hpp"

#include <tuple>

#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/dags/search/seen_states.hpp"

namespace cosched::dags::search {
namespace {

constexpr int kFirstSchedules = 500;  // of hlp_best
constexpr double kShare = 0.3;        // of the time left: before a pause, and for it
constexpr std::size_t kMostStateBytes = std::size_t{1} << 28;  // of states that were gone through
constexpr std::size_t kMostOpenChildren = std::size_t{1}
                                          << 22;  // of all levels, some 50 bytes each

// Units that share type and memory: a task on them starts on the one that is idle first.
struct Group {
  int type, memory;
  std::vector<int> units;  // numbers
};

// The groups of a machine; memories by what they hold.
struct Machine {
  explicit Machine(const Instance& instance) {
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; unit < list::useful_units(instance, type); ++unit)
        places.push_back({type, unit});
    std::map<std::int64_t, int> memory_number;
    std::map<std::pair<int, int>, int> group_number;
    const bool free = instance.transfers().free();
    for (int unit = 0; unit < units(); ++unit) {
      const std::int64_t memory = free ? 0 : instance.transfers().memory(places[unit]);
      const int of_unit =
          memory_number.emplace(memory, static_cast<int>(memory_number.size())).first->second;
      const int type = places[unit].type;
      const auto [found, fresh] =
          group_number.emplace(std::pair(of_unit, type), static_cast<int>(groups.size()));
      if (fresh) groups.push_back({type, of_unit, {}});
      groups[found->second].units.push_back(unit);
    }
    of_memory.resize(memory_number.size());
    has.assign(of_memory.size(), std::vector<char>(instance.types(), 0));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      of_memory[groups[g].memory].push_back(static_cast<int>(g));
      has[groups[g].memory][groups[g].type] = 1;
    }
    std::map<std::vector<std::pair<int, std::size_t>>, int> shapes;
    for (std::vector<int>& held : of_memory) {
      std::sort(held.begin(), held.end(),
                [&](int a, int b) { return groups[a].type < groups[b].type; });
      std::vector<std::pair<int, std::size_t>> shape;
      for (const int g : held) shape.emplace_back(groups[g].type, groups[g].units.size());
      shape_of.push_back(
          shapes.emplace(std::move(shape), static_cast<int>(shapes.size())).first->second);
    }
  }

  int units() const { return static_cast<int>(places.size()); }

  std::vector<Place> places;  // of each unit
  std::vector<Group> groups;
  std::vector<std::vector<int>> of_memory;  // groups, by type
  std::vector<std::vector<char>> has;       // of each memory and type: a unit
  std::vector<int> shape_of;                // of each memory: equal where the units are alike
};

class Tree {
 public:
  Tree(const Instance& instance, const std::vector<double>& prices, std::int64_t most_nodes,
       OptimalResult& best, const std::function<void()>& pause)
      : instance_(instance),
        machine_(instance),
        prices_(prices),
        free_(instance.transfers().free()),
        grain_(free_ ? time_grain(instance) : 0),
        most_nodes_(most_nodes),
        best_(best),
        pause_(pause),
        plan_(instance.tasks()),
        memory_(instance.tasks(), -1),
        idle_(machine_.units(), 0.0),
        used_(machine_.of_memory.size(), 0),
        head_(instance.tasks(), instance.types(), kInfinity),
        tail_(instance.tasks(), instance.types(), kInfinity) {
    follow_tails();
    least(best.plan.makespan());
  }

  // False: out of nodes, or of memory for what is still to be looked at.
  bool run() {
    search();
    return best_.nodes <= most_nodes_ && !out_of_memory_;
  }

 private:
  struct Child {
    int task, group, unit;
    double start, end, tail;
  };
  // A partial plan on the way down: what may come next, and what the child at work has replaced.
  struct Level {
    std::vector<Child> children;
    std::size_t next = 0;
    double makespan = 0;
    std::optional<Child> placed_child;  // at work
    double idle_before = 0;             // of its unit
  };

  // Takes over a better plan that was found in the meantime.
  void let_pause() {
    const double before = best_.plan.makespan();
    pause_();
    if (best_.plan.makespan() < before) least(best_.plan.makespan());
  }

  // What a plan must be below to be of interest.
  void least(double makespan) {
    limit_ = grain_ > 0 ? makespan - 0.5 * grain_ : makespan * (1 - kExactTolerance);
  }

  double cost(int edge, int from, int to) const {
    return free_ ? 0 : instance_.transfers().type_cost(edge, from, to);
  }

  // Longest path of least times after the end of each task, by its type.
  void follow_tails() {
    const TaskGraph& graph = instance_.graph();
    for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it)
      for (int type = 0; type < instance_.types(); ++type) {
        double tail = 0;
        int edge = free_ ? 0 : instance_.transfers().first_out(*it);
        for (const int next : graph.successors(*it)) {
          double least = kInfinity;
          for (int other = 0; other < instance_.types(); ++other)
            if (instance_.can_run(next, other))
              least = std::min(least, cost(edge, type, other) + instance_.time(next, other) +
                                          tail_(next, other));
          tail = std::max(tail, least);
          ++edge;
        }
        tail_(*it, type) = tail;
      }
  }

  bool placed(int task) const { return memory_[task] >= 0; }

  // When the data of a task whose predecessors are placed is in a memory, for units of a type.
  double ready(int task, int type, int memory) const {
    const int* edge = free_ ? nullptr : instance_.transfers().in_edges(task);
    double time = 0;
    for (const int before : instance_.graph().predecessors(task)) {
      const double moving = free_ || memory_[before] == memory
                                ? 0
                                : instance_.transfers().remote(*edge, plan_.kind[before], type);
      time = std::max(time, plan_.end[before] + moving);
      ++edge;
    }
    return time;
  }

  // Whether no schedule that goes on from here, with starts of at least `now`, is below the limit.
  bool hopeless(double now) {
    find_heads(now);
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (placed(task)) continue;
      bool open = false;
      for (int type = 0; type < instance_.types(); ++type) open = open || fits(task, type);
      if (!open) return true;
    }
    return overloaded(now);
  }

  bool fits(int task, int type) const {
    return head_(task, type) + instance_.time(task, type) + tail_(task, type) < limit_;
  }

  void find_heads(double now) {
    std::vector<double>& first = first_idle_;
    first.assign(instance_.types(), kInfinity);
    for (int unit = 0; unit < machine_.units(); ++unit) {
      double& least = first[machine_.places[unit].type];
      least = std::min(least, std::max(now, idle_[unit]));
    }
    for (const int task : instance_.graph().order()) {
      if (placed(task)) continue;
      for (int type = 0; type < instance_.types(); ++type)
        head_(task, type) =
            instance_.can_run(task, type) ? std::max(first[type], head(task, type)) : kInfinity;
    }
  }

  double head(int task, int type) const {
    const int* edge = free_ ? nullptr : instance_.transfers().in_edges(task);
    double time = 0;
    for (const int before : instance_.graph().predecessors(task)) {
      const int number = free_ ? 0 : *edge++;
      if (placed(before)) {
        const bool near = free_ || machine_.has[memory_[before]][type];
        time = std::max(
            time, plan_.end[before] +
                      (near ? 0 : instance_.transfers().remote(number, plan_.kind[before], type)));
        continue;
      }
      double least = kInfinity;
      for (int other = 0; other < instance_.types(); ++other)
        if (head_(before, other) < kInfinity)
          least = std::min(least, head_(before, other) + instance_.time(before, other) +
                                      cost(number, other, type));
      time = std::max(time, least);
    }
    return time;
  }

  // Whether what is left, at any prices of the types, needs more than the units have before the
  // limit.
  bool overloaded(double now) {
    room_.assign(instance_.types(), 0.0);
    for (int unit = 0; unit < machine_.units(); ++unit)
      room_[machine_.places[unit].type] += std::max(0.0, limit_ - std::max(now, idle_[unit]));
    std::vector<double>& price = price_;
    for (int type = 0; type < instance_.types(); ++type) {
      price.assign(instance_.types(), 0.0);
      price[type] = 1;
      if (breaks(price)) return true;
    }
    if (breaks(prices_)) return true;
    if (instance_.types() != 2) {
      price.assign(instance_.types(), 1.0);
      return breaks(price);
    }
    for (int task = 0; task < instance_.tasks();
         ++task) {  // the exact dual of two types is one of these
      if (placed(task) || !fits(task, 0) || !fits(task, 1) || instance_.time(task, 1) <= 0)
        continue;
      price.assign({1.0, instance_.time(task, 0) / instance_.time(task, 1)});
      if (breaks(price)) return true;
    }
    return false;
  }

  bool breaks(const std::vector<double>& price) const {
    double need = 0, room = 0;
    for (int type = 0; type < instance_.types(); ++type) room += price[type] * room_[type];
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (placed(task)) continue;
      double least = kInfinity;
      for (int type = 0; type < instance_.types(); ++type)
        if (fits(task, type)) least = std::min(least, price[type] * instance_.time(task, type));
      need += least;
    }
    return need > room * (1 + kExactTolerance);
  }

  // Tasks that can be next, on each group of units: of alike memories without a task the first.
  std::vector<Child> children(double now) const {
    std::vector<Child> found;
    double first_end = kInfinity;
    for (int task = 0; task < instance_.tasks(); ++task) {
      if (placed(task)) continue;
      const TaskGraph::Range before = instance_.graph().predecessors(task);
      if (std::any_of(before.begin(), before.end(), [&](int i) { return !placed(i); })) continue;
      for (int g = 0; g < static_cast<int>(machine_.groups.size()); ++g) {
        const Group& group = machine_.groups[g];
        if (!instance_.can_run(task, group.type) || second_empty(group.memory)) continue;
        const int unit = *std::min_element(group.units.begin(), group.units.end(),
                                           [&](int a, int b) { return idle_[a] < idle_[b]; });
        const double start = std::max(idle_[unit], ready(task, group.type, group.memory));
        const double end = start + instance_.time(task, group.type);
        if (start < now) continue;
        if (free_) first_end = std::min(first_end, end);
        const double tail = tail_(task, group.type);
        if (end + tail < limit_) found.push_back({task, g, unit, start, end, tail});
      }
    }
    found.erase(std::remove_if(found.begin(), found.end(),
                               [&](const Child& child) { return child.start > first_end; }),
                found.end());
    std::stable_sort(found.begin(), found.end(), [](const Child& a, const Child& b) {
      return std::tuple(a.start, -a.tail, a.end) < std::tuple(b.start, -b.tail, b.end);
    });
    return found;
  }

  bool second_empty(int memory) const {
    if (used_[memory] > 0) return false;
    for (int other = 0; other < memory; ++other)
      if (used_[other] == 0 && machine_.shape_of[other] == machine_.shape_of[memory]) return true;
    return false;
  }

  // Data of `task` that may still come too late for somebody who starts now.
  bool live(int task, double now) const {
    int edge = free_ ? 0 : instance_.transfers().first_out(task);
    for (const int next : instance_.graph().successors(task)) {
      const int number = edge++;
      if (placed(next)) continue;
      if (plan_.end[task] > now) return true;
      for (int type = 0; !free_ && type < instance_.types(); ++type)
        if (instance_.can_run(next, type) &&
            plan_.end[task] + instance_.transfers().remote(number, plan_.kind[task], type) > now)
          return true;
    }
    return false;
  }

  // Key and numbers of the state, memories that nothing tells apart in one order.
  bool seen_before(double now, double makespan) {
    const int memories = static_cast<int>(machine_.of_memory.size());
    std::vector<int> first_live(memories, instance_.tasks()), label(memories);
    std::string key;
    for (int task = 0; task < instance_.tasks(); ++task) {
      const bool is_live = placed(task) && live(task, now);
      if (is_live) first_live[memory_[task]] = std::min(first_live[memory_[task]], task);
      key.push_back(static_cast<char>(is_live ? 2 : placed(task) ? 1 : 0));
    }
    std::vector<std::vector<double>> busy(memories);
    for (int memory = 0; memory < memories; ++memory)
      for (const int g : machine_.of_memory[memory]) {
        const std::size_t from = busy[memory].size();
        for (const int unit : machine_.groups[g].units)
          busy[memory].push_back(std::max(now, idle_[unit]));
        std::sort(busy[memory].begin() + static_cast<std::ptrdiff_t>(from), busy[memory].end());
      }
    std::vector<int> sorted(memories);
    for (int memory = 0; memory < memories; ++memory) sorted[memory] = memory;
    std::sort(sorted.begin(), sorted.end(), [&](int a, int b) {
      return std::tie(machine_.shape_of[a], first_live[a], busy[a]) <
             std::tie(machine_.shape_of[b], first_live[b], busy[b]);
    });
    std::vector<double> state{now, makespan};
    for (int k = 0; k < memories; ++k) {
      label[sorted[k]] = k;
      state.insert(state.end(), busy[sorted[k]].begin(), busy[sorted[k]].end());
    }
    for (int task = 0; task < instance_.tasks(); ++task)
      if (key[task] == 2) {
        state.push_back(plan_.end[task]);
        if (!free_)
          key +=
              "," + std::to_string(plan_.kind[task]) + ":" + std::to_string(label[memory_[task]]);
      }
    return seen_.is_dominated(key, state);
  }

  // Depth first, on a stack of its own: there are as many levels as tasks.
  void search() {
    std::vector<Level> levels;
    open_children_ = 0;
    enter(levels, 0, 0);
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.placed_child) take_back(*level.placed_child, level.idle_before);
      level.placed_child = next_child(level);
      if (!level.placed_child) {
        open_children_ -= level.children.size();
        levels.pop_back();
        continue;
      }
      const Child child = *level.placed_child;
      level.idle_before = place(child);
      enter(levels, child.start, std::max(level.makespan, child.end));
    }
  }

  // None: the level is done, or the search is out of nodes or memory.
  std::optional<Child> next_child(Level& level) const {
    if (best_.nodes > most_nodes_ || out_of_memory_) return std::nullopt;
    while (level.next < level.children.size()) {
      const Child& child = level.children[level.next++];
      // Another child may have found a better plan.
      if (child.end + child.tail < limit_) return child;
    }
    return std::nullopt;
  }

  // Looks at the partial plan; a level more where something may come of it.
  void enter(std::vector<Level>& levels, double now, double makespan) {
    ++best_.nodes;
    if (best_.nodes % 64 == 0) {
      check_interrupt();
      if (pause_) let_pause();
    }
    if (best_.nodes > most_nodes_) return;
    if (static_cast<int>(levels.size()) == instance_.tasks()) {
      best_.plan = plan_;
      least(makespan);
      return;
    }
    if (hopeless(now) || seen_before(now, makespan)) return;
    Level level;
    level.children = children(now);
    level.makespan = makespan;
    open_children_ += level.children.size();
    out_of_memory_ = open_children_ > kMostOpenChildren;
    levels.push_back(std::move(level));
  }

  // The task of a child is in the plan; returns when its unit was idle before.
  double place(const Child& child) {
    const Group& group = machine_.groups[child.group];
    const double idle_before = std::exchange(idle_[child.unit], child.end);
    plan_.set(child.task, group.type, machine_.places[child.unit].unit, child.start, child.end);
    memory_[child.task] = group.memory;
    ++used_[group.memory];
    return idle_before;
  }

  void take_back(const Child& child, double idle_before) {
    --used_[machine_.groups[child.group].memory];
    memory_[child.task] = -1;
    idle_[child.unit] = idle_before;
  }

  const Instance& instance_;
  Machine machine_;
  const std::vector<double>& prices_;
  bool free_;
  double grain_;
  std::int64_t most_nodes_;
  OptimalResult& best_;
  const std::function<void()>& pause_;
  double limit_ = kInfinity;
  Plan plan_;
  std::vector<int> memory_;  // of each task that is placed; -1
  std::vector<double> idle_;
  std::vector<int> used_;  // tasks in each memory
  Table head_, tail_;
  std::vector<double> first_idle_, room_, price_;
  SeenStates seen_{kMostStateBytes};
  std::size_t open_children_ = 0;  // of all levels
  bool out_of_memory_ = false;
};

// Prices of a second of each type.
std::vector<double> load_prices(const Instance& instance, const std::vector<double>& weights) {
  std::vector<double> prices;
  for (int type = 0; type < instance.types(); ++type)
    prices.push_back(weights[type] / instance.units(type));
  return prices;
}

// Where only the clock ends the search: a pause for better plans, which cut more, and are what is
// left where the tree is too large.  It comes when the default nodes are done, or when a share of
// the time has passed and the rest does not suffice for them: so a limit that leaves time for the
// default work allows all of it.
class Pause {
 public:
  Pause(const Instance& instance, OptimalResult& best)
      : instance_(instance), best_(best), begin_(seconds_left()) {}

  void operator()() {
    if (!is_over_ && is_due()) take();
  }

  /// Now, unless there was one.
  void take() {
    if (is_over_) return;
    is_over_ = true;
    BestOptions more;
    more.time_limit = kShare * std::max(0.0, seconds_left());
    BestResult found = hlp_best(instance_, more);
    if (found.plan.makespan() < best_.plan.makespan()) best_.plan = std::move(found.plan);
  }

 private:
  bool is_due() const {
    const auto usual_nodes = static_cast<double>(OptimalOptions{}.nodes);
    const auto nodes = static_cast<double>(best_.nodes);
    const double passed = begin_ - seconds_left();
    if (nodes >= usual_nodes) return true;
    return passed >= kShare * begin_ && passed * usual_nodes > begin_ * nodes;
  }

  const Instance& instance_;
  OptimalResult& best_;
  double begin_;
  bool is_over_ = false;
};

}  // namespace

bool branch_and_bound(const Instance& instance, const std::vector<double>& prices,
                      OptimalResult& best, std::int64_t most_nodes,
                      const std::function<void()>& pause) {
  return Tree(instance, prices, most_nodes, best, pause).run();
}

OptimalResult optimal(const Instance& instance, const OptimalOptions& options) {
  const ScopedTimeLimit limit(options.time_limit);
  BestOptions few;
  few.evaluations = kFirstSchedules;
  BestResult first = hlp_best(instance, few);
  OptimalResult best;
  best.moving = first.moving && first.moving->value > first.bound.value;
  best.bound = best.moving ? first.moving->value : first.bound.value;
  best.failure = first.failure();
  best.plan = std::move(first.plan);
  best.complete = first.complete;
  best.proved = meets(best.plan.makespan(), best.bound);
  if (!best.proved && best.complete) {
    const std::vector<double> prices = load_prices(instance, first.relaxation.certificate.weights);
    best.complete = finishes_within(std::nullopt, [&] {
      Pause plans(instance, best);
      const bool is_timed = options.nodes >= kUnlimitedWork && seconds_left() < kInfinity;
      std::function<void()> pause;
      if (is_timed) pause = std::ref(plans);
      best.proved = branch_and_bound(instance, prices, best, options.nodes, pause);
      if (!best.proved && is_timed) plans.take();  // memory has ended it
      best.proved = best.proved || meets(best.plan.makespan(), best.bound);
    });
  }
  if (best.proved) best.bound = best.plan.makespan();
  return best;
}

}  // namespace cosched::dags::search
