// MCB8 vector packing for fixed CPU requirements (Casanova, Stillwell, Vivien 2011, section 4.3).
//
// Two lists: items whose CPU requirement exceeds their memory, by decreasing CPU; the
// others, by decreasing memory; ties by item number.  Nodes are filled one by one: while
// CPU load <= memory load the first fitting task of the CPU list is taken, else that of
// the memory list; if that list has none, the other's; if neither, the next node.
//
// Fast because (a) tasks of an item are identical, and so are neighbours in a list with equal
// requirements: those that are equal whatever the target are found once, as *runs*, those that
// are for one target make a *group*, kept with a count; (b) a list finds its first fitting group
// in a tree over the second requirement; (c) once a node's pattern is known it is repeated on as
// many equal nodes as every group in it allows.  The placements are those of the plain algorithm,
// bit for bit.
#pragma once

#include <numeric>

#include "cosched/cluster/dfrs/by_decreasing.hpp"
#include "cosched/cluster/dfrs/node_list.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::dfrs {

/// A load may exceed 1 by this: sums of 0.1.
inline constexpr double kPackTolerance = 1e-12;

class Mcb8 {
 public:
  /// Items 0..n-1 with their task counts (>= 1) and memory needs of a task.  Items of one kind
  /// (0..kinds-1) have the same CPU requirement whatever the target.
  Mcb8(std::vector<int> tasks, std::vector<double> memory, std::vector<int> kind_of,
       std::size_t kinds, int nodes)
      : nodes_(nodes),
        tasks_(std::move(tasks)),
        memory_(std::move(memory)),
        kind_of_(std::move(kind_of)),
        dropped_(tasks_.size(), 0),
        settled_(tasks_.size(), 0) {
    order_.reserve(2 * tasks_.size());
    add_runs(by_kind(kind_of_, kinds), cpu_run_);
    kind_begin_.assign(kinds + 1, runs_.size());
    for (std::size_t r = runs_.size(); r-- > 0;) kind_begin_[runs_[r].kind] = r;
    add_runs(by_decreasing(memory_), memory_run_);
    for (std::size_t r = kind_begin_.back(); r < runs_.size(); ++r)
      for (int k = 1; k <= 8; ++k) parts_[k - 1] += runs_[r].tasks * parts(k, runs_[r].memory);
  }

  /// Each item is a kind of its own.
  Mcb8(const std::vector<int>& tasks, std::vector<double> memory, int nodes)
      : Mcb8(tasks, std::move(memory), numbers_below(tasks.size()), tasks.size(), nodes) {}

  /// The tasks of `item` stay on these nodes (one entry a task, increasing).  Once an item.
  void pin(int item, NodeList nodes) {
    settle(item);
    pinned_.push_back({item, std::move(nodes)});
  }

  /// The item is packed no more.
  void drop(int item) {
    settle(item);
    dropped_[item] = 1;
    for (int k = 1; k <= 8; ++k) parts_[k - 1] -= tasks_[item] * parts(k, memory_[item]);
  }

  bool dropped(int item) const { return dropped_[item]; }

  /// True if the memory of the items cannot be packed whatever their CPU requirements:
  /// at most k tasks that need more than 1/(k+1) fit on a node, and so on.  (For each k =
  /// 1..8: sum of floor((k+1) m) over a node's tasks is at most k.)  O(1).
  bool surely_too_much() const {
    for (int k = 1; k <= 8; ++k)
      if (parts_[k - 1] > static_cast<std::int64_t>(k) * nodes_) return true;
    return false;
  }

  /// Packs for cpu[kind] = CPU requirement of a task.  `by_cpu`: all kinds by decreasing
  /// cpu, ties by number.  Returns whether every task found a node.
  /// O(runs + pinned tasks + d k log g), g = groups, d = distinct node patterns (at most
  /// about 2 g), k = tasks on a node.
  bool pack(const std::vector<double>& cpu, const std::vector<int>& by_cpu) {
    check_interrupt();
    found_.clear();
    groups_.clear();
    if (!pinned_.empty() && !place_pinned(cpu)) return false;
    if (!fits_in_all(cpu)) return false;
    build_groups(cpu, by_cpu);
    Poll poll;
    for (int node = 0; node < nodes_ && unplaced_ > 0;) {
      poll.count(1000);
      const double room = (nodes_ - node) * kSurelyTooMuch;
      if (left_.cpu > room || left_.memory > room) return false;
      node += fill_node(node) ? repeat_filling(node) : equal_nodes(node);
    }
    return unplaced_ == 0;
  }

  /// Keeps the packing that the last pack() found.
  void keep() { kept_.swap(found_); }

  /// Node lists by item of the packing kept last; increasing; empty if dropped.
  std::vector<NodeList> placement() const {
    std::vector<NodeList> nodes(tasks_.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!dropped_[i]) nodes[i].reserve(static_cast<std::size_t>(tasks_[i]));
    for (const Pinned& pinned : pinned_)
      if (!dropped_[pinned.item]) nodes[pinned.item] = pinned.nodes;
    std::vector<int> next;  // by group: the first whose tasks are not all placed
    const std::vector<int> items = items_by_group(kept_, next);
    const auto place = [&](const Pick& pick, int node) {
      for (std::int64_t left = pick.count; left > 0;) {
        const int item = items[next[pick.group]];
        const auto need = tasks_[item] - static_cast<std::int64_t>(nodes[item].size());
        const auto now = std::min(left, need);
        nodes[item].append(static_cast<std::size_t>(now), node);
        if (now == need) ++next[pick.group];
        left -= now;
      }
    };
    Poll poll;
    for (std::size_t f = 0; f < kept_.fillings.size(); ++f) {
      const auto [first, repeat, pick] = kept_.fillings[f];
      poll.count(std::int64_t{100} * repeat);
      const bool last = f + 1 == kept_.fillings.size();
      const std::size_t end = last ? kept_.picks.size() : kept_.fillings[f + 1].pick;
      for (int node = first; node < first + repeat; ++node)
        for (std::size_t k = pick; k < end; ++k) place(kept_.picks[k], node);
    }
    return nodes;
  }

 private:
  static constexpr double kLimit = 1 + kPackTolerance;
  // Sums over many nodes are refused only when rounding cannot be the reason.
  static constexpr double kSurelyTooMuch = 1 + 1e-9;

  // floor((k+1) m), for an m that is less by more than what a node may be overfilled.
  static std::int64_t parts(int k, double memory) {
    return static_cast<std::int64_t>((k + 1) * std::max(0.0, memory - 1e-9));
  }

  static std::vector<int> numbers_below(std::size_t count) {
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  // Neighbours in a list of the same requirements: of one kind, with the same memory need.
  struct Run {
    double memory;
    int kind;
    std::size_t begin, end;  // items: order_[begin .. end)
    std::int64_t tasks = 0;  // of the items to pack
  };
  struct Group {
    double cpu, memory;
    std::int64_t left;  // tasks not yet placed
    int position;       // in its list
    bool in_cpu_list;
  };
  struct Pick {
    int group;
    std::int64_t count;
  };
  // The picks from `pick` to the next filling's, on each of the nodes first .. first + repeat - 1.
  struct Filling {
    int first, repeat;
    std::size_t pick;
  };
  struct Packing {
    std::vector<Filling> fillings;
    std::vector<Pick> picks;
    std::vector<int> members;      // runs, by group
    std::vector<int> group_begin;  // index into members

    void swap(Packing& other) {
      fillings.swap(other.fillings);
      picks.swap(other.picks);
      members.swap(other.members);
      group_begin.swap(other.group_begin);
    }

    void clear() {
      fillings.clear();
      picks.clear();
      members.clear();
      group_begin.clear();
    }
  };
  struct Load {
    double cpu = 0, memory = 0;
  };

  // The tasks that stay on their nodes.
  struct Pinned {
    int item;
    NodeList nodes;
  };

  void add_runs(const std::vector<int>& items, std::vector<int>& run_of) {
    run_of.resize(items.size());
    const std::size_t first = runs_.size();
    for (const int item : items) {
      const double memory = memory_[item];
      const int kind = kind_of_[item];
      if (runs_.size() == first || runs_.back().memory != memory || runs_.back().kind != kind)
        runs_.push_back({memory, kind, order_.size(), order_.size(), 0});
      run_of[item] = static_cast<int>(runs_.size()) - 1;
      order_.push_back(item);
      runs_.back().end = order_.size();
      runs_.back().tasks += tasks_[item];
    }
  }

  // The item is packed no more by lists.
  void settle(int item) {
    if (settled_[item]) return;
    settled_[item] = 1;
    runs_[cpu_run_[item]].tasks -= tasks_[item];
    runs_[memory_run_[item]].tasks -= tasks_[item];
  }

  bool place_pinned(const std::vector<double>& cpu) {
    start_.assign(nodes_, Load{});
    for (const auto& [item, nodes] : pinned_) {
      if (dropped_[item]) continue;
      for (const int node : nodes) {
        start_[node].cpu += cpu[kind_of_[item]];
        start_[node].memory += memory_[item];
      }
    }
    return std::all_of(start_.begin(), start_.end(),
                       [](const Load& load) { return load.cpu <= kLimit; });
  }

  void add_to_list(int run, double cpu, bool cpu_list) {
    const double memory = runs_[run].memory;
    if (groups_.empty() || groups_.back().in_cpu_list != cpu_list || groups_.back().cpu != cpu ||
        groups_.back().memory != memory) {
      FirstFitList& list = cpu_list ? cpu_list_ : memory_list_;
      const int group = static_cast<int>(groups_.size());
      groups_.push_back({cpu, memory, 0, list.size(), cpu_list});
      found_.group_begin.push_back(static_cast<int>(found_.members.size()));
      if (cpu_list)
        list.push(group, cpu, memory);
      else
        list.push(group, memory, cpu);
    }
    groups_.back().left += runs_[run].tasks;
    found_.members.push_back(run);
  }

  // Sums up what is to be placed; whether the machine as a whole is large enough for it.
  bool fits_in_all(const std::vector<double>& cpu) {
    Load held;
    for (const Load& load : start_) {
      held.cpu += load.cpu;
      held.memory += load.memory;
    }
    unplaced_ = 0;
    left_ = {};
    for (std::size_t r = kind_begin_.back(); r < runs_.size(); ++r) {
      const Run& run = runs_[r];
      unplaced_ += run.tasks;
      left_.cpu += static_cast<double>(run.tasks) * cpu[run.kind];
      left_.memory += static_cast<double>(run.tasks) * run.memory;
    }
    const double room = nodes_ * kSurelyTooMuch;
    return left_.cpu + held.cpu <= room && left_.memory + held.memory <= room;
  }

  void build_groups(const std::vector<double>& cpu, const std::vector<int>& by_cpu) {
    cpu_list_.clear();
    memory_list_.clear();
    for (const int kind : by_cpu)
      for (std::size_t r = kind_begin_[kind]; r < kind_begin_[kind + 1]; ++r)
        if (runs_[r].tasks > 0 && cpu[kind] > runs_[r].memory)
          add_to_list(static_cast<int>(r), cpu[kind], true);
    for (std::size_t r = kind_begin_.back(); r < runs_.size(); ++r)
      if (runs_[r].tasks > 0 && !(cpu[runs_[r].kind] > runs_[r].memory))
        add_to_list(static_cast<int>(r), cpu[runs_[r].kind], false);
    cpu_list_.build();
    memory_list_.build();
  }

  // Fills `node` to the end; false if nothing fitted.
  bool fill_node(int node) {
    Load load = start_.empty() ? Load{} : start_[node];
    cpu_list_.rewind();
    memory_list_.rewind();
    auto& picks = found_.picks;
    const std::size_t begin = picks.size();
    for (int group = take(load); group >= 0; group = take(load)) {
      load.cpu += groups_[group].cpu;
      load.memory += groups_[group].memory;
      const auto same =
          std::find_if(picks.begin() + static_cast<std::ptrdiff_t>(begin), picks.end(),
                       [&](const Pick& pick) { return pick.group == group; });
      if (same != picks.end())
        ++same->count;
      else
        picks.push_back({group, 1});
    }
    if (picks.size() == begin) return false;
    found_.fillings.push_back({node, 1, begin});
    return true;
  }

  // The group of the task that the algorithm takes next on a node with this load, or -1.
  int take(const Load& load) {
    for (const bool second : {false, true}) {
      const bool from_cpu = (load.cpu <= load.memory) != second;
      FirstFitList& list = from_cpu ? cpu_list_ : memory_list_;
      const int at = from_cpu ? list.find(load.cpu, load.memory, kLimit)
                              : list.find(load.memory, load.cpu, kLimit);
      if (at < 0) continue;
      const int group = list.item(at);
      if (--groups_[group].left == 0) list.remove(at);
      return group;
    }
    return -1;
  }

  // Repeats the last filling on the equal nodes after `node` while every group has a full set of
  // tasks left.  Returns its number of nodes.
  int repeat_filling(int node) {
    Filling& filling = found_.fillings.back();
    std::int64_t more = equal_nodes(node) - 1;
    for (std::size_t k = filling.pick; k < found_.picks.size(); ++k)
      more = std::min(more, groups_[found_.picks[k].group].left / found_.picks[k].count);
    filling.repeat = static_cast<int>(1 + more);
    for (std::size_t k = filling.pick; k < found_.picks.size(); ++k) {
      const std::int64_t count = found_.picks[k].count;
      Group& group = groups_[found_.picks[k].group];
      group.left -= more * count;
      unplaced_ -= filling.repeat * count;
      left_.cpu -= static_cast<double>(filling.repeat * count) * group.cpu;
      left_.memory -= static_cast<double>(filling.repeat * count) * group.memory;
      if (more > 0 && group.left == 0)
        (group.in_cpu_list ? cpu_list_ : memory_list_).remove(group.position);
    }
    return filling.repeat;
  }

  // How many nodes from `node` on start with the same load.
  int equal_nodes(int node) const {
    if (start_.empty()) return nodes_ - node;
    int end = node + 1;
    while (end < nodes_ && start_[end].cpu == start_[node].cpu &&
           start_[end].memory == start_[node].memory)
      ++end;
    return end - node;
  }

  // The items that a packing places, in the order in which they take their group's tasks; group g's
  // begin at begin[g].
  std::vector<int> items_by_group(const Packing& packing, std::vector<int>& begin) const {
    std::vector<int> items;
    items.reserve(tasks_.size());
    begin = packing.group_begin;
    for (std::size_t g = 0; g < begin.size(); ++g) {
      const int end = g + 1 < begin.size() ? packing.group_begin[g + 1]
                                           : static_cast<int>(packing.members.size());
      begin[g] = static_cast<int>(items.size());
      for (int m = packing.group_begin[g]; m < end; ++m) {
        const Run& run = runs_[packing.members[m]];
        for (std::size_t k = run.begin; k < run.end; ++k)
          if (!settled_[order_[k]]) items.push_back(order_[k]);
      }
    }
    return items;
  }

  int nodes_;
  std::vector<int> tasks_;
  std::vector<double> memory_;
  std::vector<int> kind_of_;               // by item
  std::vector<int> order_;                 // all items by kind, then all by decreasing memory
  std::vector<Run> runs_;                  // likewise
  std::vector<std::size_t> kind_begin_;    // by kind: its first run; and an end
  std::vector<int> cpu_run_, memory_run_;  // by item
  std::vector<Pinned> pinned_;
  std::vector<char> dropped_;
  std::vector<char> settled_;            // dropped or pinned
  std::array<std::int64_t, 8> parts_{};  // [k-1] = sum over tasks of floor((k+1) m)
  std::vector<Load> start_;              // by node, where any are pinned
  FirstFitList cpu_list_, memory_list_;
  std::vector<Group> groups_;
  std::int64_t unplaced_ = 0;
  Load left_;  // requirements of unplaced tasks
  Packing found_, kept_;
};

}  // namespace cosched::cluster::dfrs
