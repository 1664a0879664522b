#include "cosched/cluster/dfrs/mcb8.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::dfrs {
namespace {

constexpr double kLimit = 1 + kPackTolerance;
// Sums over many nodes are refused only when rounding cannot be the reason.
constexpr double kSurelyTooMuch = 1 + 1e-9;

// floor((k+1) m), for an m that is less by more than what a node may be overfilled.
std::int64_t parts(int k, double memory) {
  return static_cast<std::int64_t>((k + 1) * std::max(0.0, memory - 1e-9));
}

std::vector<int> numbers_below(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

void Mcb8::Packing::swap(Packing& other) {
  fillings.swap(other.fillings);
  picks.swap(other.picks);
  members.swap(other.members);
  group_begin.swap(other.group_begin);
}

void Mcb8::Packing::clear() {
  fillings.clear();
  picks.clear();
  members.clear();
  group_begin.clear();
}

Mcb8::Mcb8(std::vector<int> tasks, std::vector<double> memory, std::vector<int> kind_of,
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

Mcb8::Mcb8(const std::vector<int>& tasks, std::vector<double> memory, int nodes)
    : Mcb8(tasks, std::move(memory), numbers_below(tasks.size()), tasks.size(), nodes) {}

void Mcb8::add_runs(const std::vector<int>& items, std::vector<int>& run_of) {
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

void Mcb8::settle(int item) {
  if (settled_[item]) return;
  settled_[item] = 1;
  runs_[cpu_run_[item]].tasks -= tasks_[item];
  runs_[memory_run_[item]].tasks -= tasks_[item];
}

void Mcb8::drop(int item) {
  settle(item);
  dropped_[item] = 1;
  for (int k = 1; k <= 8; ++k) parts_[k - 1] -= tasks_[item] * parts(k, memory_[item]);
}

bool Mcb8::surely_too_much() const {
  for (int k = 1; k <= 8; ++k)
    if (parts_[k - 1] > static_cast<std::int64_t>(k) * nodes_) return true;
  return false;
}

void Mcb8::pin(int item, NodeList nodes) {
  settle(item);
  pinned_.push_back({item, std::move(nodes)});
}

bool Mcb8::pack(const std::vector<double>& cpu, const std::vector<int>& by_cpu) {
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

bool Mcb8::place_pinned(const std::vector<double>& cpu) {
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

void Mcb8::add_to_list(int run, double cpu, bool cpu_list) {
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

bool Mcb8::fits_in_all(const std::vector<double>& cpu) {
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

void Mcb8::build_groups(const std::vector<double>& cpu, const std::vector<int>& by_cpu) {
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
bool Mcb8::fill_node(int node) {
  Load load = start_.empty() ? Load{} : start_[node];
  cpu_list_.rewind();
  memory_list_.rewind();
  auto& picks = found_.picks;
  const std::size_t begin = picks.size();
  for (int group = take(load); group >= 0; group = take(load)) {
    load.cpu += groups_[group].cpu;
    load.memory += groups_[group].memory;
    const auto same = std::find_if(picks.begin() + static_cast<std::ptrdiff_t>(begin), picks.end(),
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
int Mcb8::take(const Load& load) {
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

// How many nodes from `node` on start with the same load.
int Mcb8::equal_nodes(int node) const {
  if (start_.empty()) return nodes_ - node;
  int end = node + 1;
  while (end < nodes_ && start_[end].cpu == start_[node].cpu &&
         start_[end].memory == start_[node].memory)
    ++end;
  return end - node;
}

// Repeats the last filling on the equal nodes after `node` while every group has a full set of
// tasks left.  Returns its number of nodes.
int Mcb8::repeat_filling(int node) {
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

// The items that a packing places, in the order in which they take their group's tasks; group g's
// begin at begin[g].
std::vector<int> Mcb8::items_by_group(const Packing& packing, std::vector<int>& begin) const {
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

std::vector<NodeList> Mcb8::placement() const {
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

}  // namespace cosched::cluster::dfrs
