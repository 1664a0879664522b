#include "cosched/cluster/dfrs/mcb8.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cosched/cluster/dfrs/value_kinds.hpp"
#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {
namespace {

constexpr double kLoadLimit = 1 + kPackTolerance;

// Sums over many nodes are refused only when rounding cannot be the reason.
constexpr double kTotalLoadLimit = 1 + kExactTolerance;

// For Poll: about a nanosecond each.
constexpr int kStepsPerFilling = 1000;
constexpr int kStepsPerPlacedNode = 100;

// floor((k+1) m), for an m that is less by more than what a node may be overfilled.
std::int64_t threshold_count(int k, double memory) {
  return static_cast<std::int64_t>((k + 1) * std::max(0.0, memory - kExactTolerance));
}

std::vector<int> numbers_below(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

Mcb8::Mcb8(std::vector<int> tasks, std::vector<double> memory, std::vector<int> kind_of,
           std::size_t kind_count, int nodes)
    : nodes_(nodes),
      tasks_(std::move(tasks)),
      memory_(std::move(memory)),
      kind_of_(std::move(kind_of)),
      is_dropped_(tasks_.size(), 0),
      is_excluded_(tasks_.size(), 0) {
  COSCHED_ASSERT(memory_.size() == tasks_.size() && kind_of_.size() == tasks_.size());
  ordered_items_.reserve(2 * tasks_.size());
  append_runs(sort_by_kind(kind_of_, kind_count), cpu_run_);
  kind_begin_.assign(kind_count + 1, runs_.size());
  for (std::size_t r = runs_.size(); r > 0; --r) kind_begin_[runs_[r - 1].kind] = r - 1;
  append_runs(sort_by_decreasing_value(memory_), memory_run_);
  for (std::size_t r = kind_begin_.back(); r < runs_.size(); ++r)
    count_thresholds(runs_[r].memory, runs_[r].tasks);
}

Mcb8::Mcb8(const std::vector<int>& tasks, std::vector<double> memory, int nodes)
    : Mcb8(tasks, std::move(memory), numbers_below(tasks.size()), tasks.size(), nodes) {}

void Mcb8::count_thresholds(double memory, std::int64_t tasks) {
  for (int k = 1; k <= kThresholds; ++k)
    threshold_counts_[k - 1] += tasks * threshold_count(k, memory);
}

void Mcb8::append_runs(const std::vector<int>& items, std::vector<int>& run_of) {
  run_of.resize(items.size());
  const std::size_t first_run = runs_.size();
  for (const int item : items) {
    const double memory = memory_[item];
    const int kind = kind_of_[item];
    const bool begins_run =
        runs_.size() == first_run || runs_.back().memory != memory || runs_.back().kind != kind;
    if (begins_run)
      runs_.push_back({.memory = memory,
                       .kind = kind,
                       .begin = ordered_items_.size(),
                       .end = ordered_items_.size()});
    run_of[item] = static_cast<int>(runs_.size()) - 1;
    ordered_items_.push_back(item);
    runs_.back().end = ordered_items_.size();
    runs_.back().tasks += tasks_[item];
  }
}

void Mcb8::pin(int item, NodeList nodes) {
  exclude(item);
  pinned_items_.push_back({item, std::move(nodes)});
}

void Mcb8::drop(int item) {
  exclude(item);
  is_dropped_[item] = 1;
  count_thresholds(memory_[item], -tasks_[item]);
}

void Mcb8::exclude(int item) {
  if (is_excluded_[item]) return;
  is_excluded_[item] = 1;
  runs_[cpu_run_[item]].tasks -= tasks_[item];
  runs_[memory_run_[item]].tasks -= tasks_[item];
}

bool Mcb8::has_too_much_memory() const {
  for (int k = 1; k <= kThresholds; ++k)
    if (threshold_counts_[k - 1] > static_cast<std::int64_t>(k) * nodes_) return true;
  return false;
}

bool Mcb8::pack(const std::vector<double>& cpu, const std::vector<int>& kinds_by_cpu) {
  check_interrupt();
  packing_.clear();
  groups_.clear();
  if (!pinned_items_.empty()) {
    const bool fits = place_pinned_items(cpu);
    if (!fits) return false;
  }
  const bool fits = fits_in_total(cpu);
  if (!fits) return false;
  build_groups(cpu, kinds_by_cpu);
  Poll poll;
  int node = 0;
  while (node < nodes_ && unplaced_tasks_ > 0) {
    poll.count(kStepsPerFilling);
    const double room = (nodes_ - node) * kTotalLoadLimit;
    if (unplaced_load_.cpu > room || unplaced_load_.memory > room) return false;
    const bool has_tasks = fill_node(node);
    node += has_tasks ? repeat_filling(node) : count_equal_nodes(node);
  }
  return unplaced_tasks_ == 0;
}

bool Mcb8::place_pinned_items(const std::vector<double>& cpu) {
  pinned_load_.assign(nodes_, NodeLoad{});
  for (const auto& [item, nodes] : pinned_items_) {
    if (is_dropped_[item]) continue;
    for (const int node : nodes) {
      pinned_load_[node].cpu += cpu[kind_of_[item]];
      pinned_load_[node].memory += memory_[item];
    }
  }
  return std::all_of(pinned_load_.begin(), pinned_load_.end(),
                     [](const NodeLoad& load) { return load.cpu <= kLoadLimit; });
}

bool Mcb8::fits_in_total(const std::vector<double>& cpu) {
  NodeLoad total_pinned_load;
  for (const NodeLoad& load : pinned_load_) {
    total_pinned_load.cpu += load.cpu;
    total_pinned_load.memory += load.memory;
  }
  unplaced_tasks_ = 0;
  unplaced_load_ = {};
  for (std::size_t r = kind_begin_.back(); r < runs_.size(); ++r) {
    const ItemRun& run = runs_[r];
    unplaced_tasks_ += run.tasks;
    unplaced_load_.cpu += static_cast<double>(run.tasks) * cpu[run.kind];
    unplaced_load_.memory += static_cast<double>(run.tasks) * run.memory;
  }
  const double room = nodes_ * kTotalLoadLimit;
  return unplaced_load_.cpu + total_pinned_load.cpu <= room &&
         unplaced_load_.memory + total_pinned_load.memory <= room;
}

void Mcb8::build_groups(const std::vector<double>& cpu, const std::vector<int>& kinds_by_cpu) {
  cpu_list_.clear();
  memory_list_.clear();
  for (const int kind : kinds_by_cpu)
    for (std::size_t r = kind_begin_[kind]; r < kind_begin_[kind + 1]; ++r)
      if (runs_[r].tasks > 0 && cpu[kind] > runs_[r].memory)
        append_to_list(static_cast<int>(r), cpu[kind], true);
  for (std::size_t r = kind_begin_.back(); r < runs_.size(); ++r)
    if (runs_[r].tasks > 0 && !(cpu[runs_[r].kind] > runs_[r].memory))
      append_to_list(static_cast<int>(r), cpu[runs_[r].kind], false);
  cpu_list_.build();
  memory_list_.build();
}

void Mcb8::append_to_list(int run, double cpu, bool is_in_cpu_list) {
  const double memory = runs_[run].memory;
  const bool begins_group = groups_.empty() || groups_.back().is_in_cpu_list != is_in_cpu_list ||
                            groups_.back().cpu != cpu || groups_.back().memory != memory;
  if (begins_group) {
    FirstFitList& list = is_in_cpu_list ? cpu_list_ : memory_list_;
    const int group = static_cast<int>(groups_.size());
    groups_.push_back({.cpu = cpu,
                       .memory = memory,
                       .unplaced_tasks = 0,
                       .position = list.size(),
                       .is_in_cpu_list = is_in_cpu_list});
    packing_.group_begin.push_back(static_cast<int>(packing_.runs_by_group.size()));
    if (is_in_cpu_list)
      list.push(group, cpu, memory);
    else
      list.push(group, memory, cpu);
  }
  groups_.back().unplaced_tasks += runs_[run].tasks;
  packing_.runs_by_group.push_back(run);
}

bool Mcb8::fill_node(int node) {
  NodeLoad load = pinned_load_.empty() ? NodeLoad{} : pinned_load_[node];
  cpu_list_.rewind();
  memory_list_.rewind();
  std::vector<GroupPick>& picks = packing_.picks;
  const std::size_t first_pick = picks.size();
  for (int group = take_next_task(load); group >= 0; group = take_next_task(load)) {
    load.cpu += groups_[group].cpu;
    load.memory += groups_[group].memory;
    const auto pick_of_group =
        std::find_if(picks.begin() + static_cast<std::ptrdiff_t>(first_pick), picks.end(),
                     [&](const GroupPick& pick) { return pick.group == group; });
    if (pick_of_group != picks.end())
      ++pick_of_group->count;
    else
      picks.push_back({group, 1});
  }
  if (picks.size() == first_pick) return false;
  packing_.fillings.push_back({.first_node = node, .node_count = 1, .first_pick = first_pick});
  return true;
}

int Mcb8::take_next_task(const NodeLoad& load) {
  const bool prefers_cpu_list = load.cpu <= load.memory;
  for (const bool from_cpu_list : {prefers_cpu_list, !prefers_cpu_list}) {
    FirstFitList& list = from_cpu_list ? cpu_list_ : memory_list_;
    const int position = from_cpu_list ? list.find(load.cpu, load.memory, kLoadLimit)
                                       : list.find(load.memory, load.cpu, kLoadLimit);
    if (position < 0) continue;
    const int group = list.item(position);
    --groups_[group].unplaced_tasks;
    if (groups_[group].unplaced_tasks == 0) list.remove(position);
    return group;
  }
  return -1;
}

int Mcb8::repeat_filling(int node) {
  NodeFilling& filling = packing_.fillings.back();
  std::int64_t repetitions = count_equal_nodes(node) - 1;
  for (std::size_t k = filling.first_pick; k < packing_.picks.size(); ++k) {
    const GroupPick& pick = packing_.picks[k];
    repetitions = std::min(repetitions, groups_[pick.group].unplaced_tasks / pick.count);
  }
  filling.node_count = static_cast<int>(1 + repetitions);
  for (std::size_t k = filling.first_pick; k < packing_.picks.size(); ++k) {
    const std::int64_t count = packing_.picks[k].count;
    ItemGroup& group = groups_[packing_.picks[k].group];
    group.unplaced_tasks -= repetitions * count;
    unplaced_tasks_ -= filling.node_count * count;
    unplaced_load_.cpu -= static_cast<double>(filling.node_count * count) * group.cpu;
    unplaced_load_.memory -= static_cast<double>(filling.node_count * count) * group.memory;
    if (repetitions > 0 && group.unplaced_tasks == 0) {
      FirstFitList& list = group.is_in_cpu_list ? cpu_list_ : memory_list_;
      list.remove(group.position);
    }
  }
  return filling.node_count;
}

int Mcb8::count_equal_nodes(int node) const {
  if (pinned_load_.empty()) return nodes_ - node;
  int end = node + 1;
  while (end < nodes_ && pinned_load_[end].cpu == pinned_load_[node].cpu &&
         pinned_load_[end].memory == pinned_load_[node].memory)
    ++end;
  return end - node;
}

Mcb8::ItemsByGroup Mcb8::items_by_group(const Packing& packing) const {
  ItemsByGroup by_group;
  by_group.items.reserve(tasks_.size());
  for (std::size_t g = 0; g < packing.group_begin.size(); ++g) {
    const int end = g + 1 < packing.group_begin.size()
                        ? packing.group_begin[g + 1]
                        : static_cast<int>(packing.runs_by_group.size());
    by_group.begin.push_back(static_cast<int>(by_group.items.size()));
    for (int r = packing.group_begin[g]; r < end; ++r) {
      const ItemRun& run = runs_[packing.runs_by_group[r]];
      for (std::size_t k = run.begin; k < run.end; ++k)
        if (!is_excluded_[ordered_items_[k]]) by_group.items.push_back(ordered_items_[k]);
    }
  }
  return by_group;
}

std::vector<NodeList> Mcb8::placement() const {
  std::vector<NodeList> nodes(tasks_.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!is_dropped_[i]) nodes[i].reserve(static_cast<std::size_t>(tasks_[i]));
  for (const PinnedItem& pinned : pinned_items_)
    if (!is_dropped_[pinned.item]) nodes[pinned.item] = pinned.nodes;
  const ItemsByGroup by_group = items_by_group(saved_packing_);
  std::vector<int> next_item = by_group.begin;  // by group: the first with tasks to be placed
  const auto place_tasks = [&](const GroupPick& pick, int node) {
    std::int64_t tasks_to_place = pick.count;
    while (tasks_to_place > 0) {
      const int item = by_group.items[next_item[pick.group]];
      const auto tasks_of_item = tasks_[item] - static_cast<std::int64_t>(nodes[item].size());
      const auto placed_tasks = std::min(tasks_to_place, tasks_of_item);
      nodes[item].append(static_cast<std::size_t>(placed_tasks), node);
      if (placed_tasks == tasks_of_item) ++next_item[pick.group];
      tasks_to_place -= placed_tasks;
    }
  };
  Poll poll;
  for (std::size_t f = 0; f < saved_packing_.fillings.size(); ++f) {
    const auto [first_node, node_count, first_pick] = saved_packing_.fillings[f];
    poll.count(std::int64_t{kStepsPerPlacedNode} * node_count);
    const std::size_t end_pick = f + 1 < saved_packing_.fillings.size()
                                     ? saved_packing_.fillings[f + 1].first_pick
                                     : saved_packing_.picks.size();
    for (int node = first_node; node < first_node + node_count; ++node)
      for (std::size_t k = first_pick; k < end_pick; ++k)
        place_tasks(saved_packing_.picks[k], node);
  }
  return nodes;
}

void Mcb8::Packing::swap(Packing& other) {
  fillings.swap(other.fillings);
  picks.swap(other.picks);
  runs_by_group.swap(other.runs_by_group);
  group_begin.swap(other.group_begin);
}

void Mcb8::Packing::clear() {
  fillings.clear();
  picks.clear();
  runs_by_group.clear();
  group_begin.clear();
}

}  // namespace cosched::cluster::dfrs
