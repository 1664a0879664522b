#include "cosched/cluster/mcb8.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster {
namespace {

constexpr double kLimit = 1 + kPackTolerance;
// Sums over many nodes are refused only when rounding cannot be the reason.
constexpr double kSurelyTooMuch = 1 + 1e-9;

// floor((k+1) m), for an m that is less by more than what a node may be overfilled.
std::int64_t parts(int k, double memory) {
  return static_cast<std::int64_t>((k + 1) * std::max(0.0, memory - 1e-9));
}

}  // namespace

void Mcb8::Packing::swap(Packing& other) {
  runs.swap(other.runs);
  picks.swap(other.picks);
  members.swap(other.members);
  group_begin.swap(other.group_begin);
}

void Mcb8::Packing::clear() {
  runs.clear();
  picks.clear();
  members.clear();
  group_begin.clear();
}

Mcb8::Mcb8(std::vector<int> tasks, std::vector<double> memory, int nodes)
    : nodes_(nodes),
      tasks_(std::move(tasks)),
      memory_(std::move(memory)),
      by_memory_(by_decreasing(memory_)),
      pinned_(tasks_.size()),
      dropped_(tasks_.size(), 0),
      settled_(tasks_.size(), 0) {
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    for (int k = 1; k <= 8; ++k) parts_[k - 1] += tasks_[i] * parts(k, memory_[i]);
}

void Mcb8::drop(int item) {
  dropped_[item] = settled_[item] = 1;
  for (int k = 1; k <= 8; ++k) parts_[k - 1] -= tasks_[item] * parts(k, memory_[item]);
}

bool Mcb8::surely_too_much() const {
  for (int k = 1; k <= 8; ++k)
    if (parts_[k - 1] > static_cast<std::int64_t>(k) * nodes_) return true;
  return false;
}

void Mcb8::pin(int item, NodeList nodes) {
  pinned_[item] = std::move(nodes);
  settled_[item] = 1;
  any_pinned_ = true;
}

bool Mcb8::pack(const std::vector<double>& cpu, const std::vector<int>& by_cpu) {
  check_interrupt();
  found_.clear();
  groups_.clear();
  if (any_pinned_ && !place_pinned(cpu)) return false;
  if (!fits_in_all(cpu)) return false;
  build_groups(cpu, by_cpu);
  Poll poll;
  for (int node = 0; node < nodes_ && unplaced_ > 0;) {
    poll.count(1000);
    const double room = (nodes_ - node) * kSurelyTooMuch;
    if (left_.cpu > room || left_.memory > room) return false;
    node += fill_node(node) ? repeat_run(node) : equal_nodes(node);
  }
  return unplaced_ == 0;
}

bool Mcb8::place_pinned(const std::vector<double>& cpu) {
  start_.assign(nodes_, Load{});
  for (std::size_t i = 0; i < pinned_.size(); ++i) {
    if (dropped_[i]) continue;
    for (const int node : pinned_[i]) {
      start_[node].cpu += cpu[i];
      start_[node].memory += memory_[i];
    }
  }
  return std::all_of(start_.begin(), start_.end(),
                     [](const Load& load) { return load.cpu <= kLimit; });
}

void Mcb8::add_to_list(int item, double cpu, bool cpu_list) {
  const double memory = memory_[item];
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
  groups_.back().left += tasks_[item];
  found_.members.push_back(item);
}

bool Mcb8::fits_in_all(const std::vector<double>& cpu) {
  Load held;
  for (const Load& load : start_) {
    held.cpu += load.cpu;
    held.memory += load.memory;
  }
  unplaced_ = 0;
  left_ = {};
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const double tasks = to_pack(i) ? tasks_[i] : 0;  // no branch: pinned items are anywhere
    unplaced_ += static_cast<std::int64_t>(tasks);
    left_.cpu += tasks * cpu[i];
    left_.memory += tasks * memory_[i];
  }
  const double room = nodes_ * kSurelyTooMuch;
  return left_.cpu + held.cpu <= room && left_.memory + held.memory <= room;
}

void Mcb8::build_groups(const std::vector<double>& cpu, const std::vector<int>& by_cpu) {
  cpu_list_.clear();
  memory_list_.clear();
  for (const int i : by_cpu)
    if (cpu[i] > memory_[i] && to_pack(i)) add_to_list(i, cpu[i], true);
  for (const int i : by_memory_)
    if (!(cpu[i] > memory_[i]) && to_pack(i)) add_to_list(i, cpu[i], false);
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
  found_.runs.push_back({node, 1, begin});
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

// Repeats the last run on the equal nodes after `node` while every group has a full set of
// tasks left.  Returns its number of nodes.
int Mcb8::repeat_run(int node) {
  Run& run = found_.runs.back();
  std::int64_t more = equal_nodes(node) - 1;
  for (std::size_t k = run.pick; k < found_.picks.size(); ++k)
    more = std::min(more, groups_[found_.picks[k].group].left / found_.picks[k].count);
  run.repeat = static_cast<int>(1 + more);
  for (std::size_t k = run.pick; k < found_.picks.size(); ++k) {
    const std::int64_t count = found_.picks[k].count;
    Group& group = groups_[found_.picks[k].group];
    group.left -= more * count;
    unplaced_ -= run.repeat * count;
    left_.cpu -= static_cast<double>(run.repeat * count) * group.cpu;
    left_.memory -= static_cast<double>(run.repeat * count) * group.memory;
    if (more > 0 && group.left == 0)
      (group.in_cpu_list ? cpu_list_ : memory_list_).remove(group.position);
  }
  return run.repeat;
}

std::vector<NodeList> Mcb8::placement() const {
  std::vector<NodeList> nodes(tasks_.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (dropped_[i]) continue;
    nodes[i] = pinned_[i];
    nodes[i].reserve(static_cast<std::size_t>(tasks_[i]));
  }
  // Within a group the members take its tasks in order.
  std::vector<int> member = kept_.group_begin;
  const auto place = [&](const Pick& pick, int node) {
    for (std::int64_t left = pick.count; left > 0;) {
      const int item = kept_.members[member[pick.group]];
      const auto need = tasks_[item] - static_cast<std::int64_t>(nodes[item].size());
      const auto now = std::min(left, need);
      nodes[item].append(static_cast<std::size_t>(now), node);
      if (now == need) ++member[pick.group];
      left -= now;
    }
  };
  Poll poll;
  for (std::size_t r = 0; r < kept_.runs.size(); ++r) {
    const Run& run = kept_.runs[r];
    poll.count(std::int64_t{100} * run.repeat);
    const std::size_t end = r + 1 < kept_.runs.size() ? kept_.runs[r + 1].pick : kept_.picks.size();
    for (int node = run.first; node < run.first + run.repeat; ++node)
      for (std::size_t k = run.pick; k < end; ++k) place(kept_.picks[k], node);
  }
  return nodes;
}

}  // namespace cosched::cluster
