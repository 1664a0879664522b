#include "cosched/dags/model/type_costs.hpp"

namespace cosched::dags {

TypeCosts::TypeCosts(const Instance& instance, bool finds_paths)
    : instance_(&instance), types_(instance.types()) {
  const int n = instance.tasks();
  const TaskGraph& graph = instance.graph();
  in_begin_.assign(n + 1, 0);
  out_begin_.assign(1, 0);
  for (int task = 0; task < n; ++task) {
    for (const int next : graph.successors(task)) {
      from_.push_back(task);
      to_.push_back(next);
      ++in_begin_[next + 1];
    }
    out_begin_.push_back(edges());
  }
  std::partial_sum(in_begin_.begin(), in_begin_.end(), in_begin_.begin());
  out_edges_.resize(edges());
  std::iota(out_edges_.begin(), out_edges_.end(), 0);
  in_edges_.resize(edges());
  std::vector<int> next(in_begin_.begin(), in_begin_.end() - 1);
  for (int edge = 0; edge < edges(); ++edge) in_edges_[next[to_[edge]]++] = edge;

  count_units_per_memory();
  if (finds_paths) find_paths();
  const Transfers& transfers = instance.transfers();
  least_cost_.assign(static_cast<std::size_t>(edges()) * types_ * types_, 0.0);
  cross_memory_cost_ = least_cost_;
  if (!transfers.has_data()) return;
  for (int edge = 0; edge < edges(); ++edge)
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        const std::size_t index = cost_index(edge, q, r);
        const bool is_one_memory = q == r && has_one_memory_[q];
        least_cost_[index] = transfers.least_cost(edge, q, r);
        cross_memory_cost_[index] =
            is_one_memory ? kInfinity : transfers.cost_between_memories(edge, q, r);
        has_costs_ = has_costs_ || (!is_one_memory && cross_memory_cost_[index] > 0);
      }
}

double TypeCosts::cost(int edge, int placement) const {
  if (placement < types_ * types_) return least_cost(edge, placement / types_, placement % types_);
  const int type = cross_memory_type(placement);
  return units_per_memory_[type] > 0 ? cross_memory_cost(edge, type, type) : kInfinity;
}

void TypeCosts::count_units_per_memory() {
  const Instance& instance = *instance_;
  units_per_memory_.assign(types_, 0);
  has_one_memory_.assign(types_, 1);
  if (!instance.transfers().has_data()) return;
  const Memories& memories = instance.transfers().links().memories;
  if (memories.kind != Memories::MemoryKind::listed) {
    for (int type = 0; type < types_; ++type) {
      const bool is_host = type == 0 && memories.kind == Memories::MemoryKind::host;
      units_per_memory_[type] = is_host ? instance.units(0) : 1;
      has_one_memory_[type] = is_host || instance.units(type) == 1;
    }
    return;
  }
  std::map<int, std::map<int, int>> units_by_memory;  // of each type in each memory
  auto memory = memories.memory_of_unit.begin();
  for (int type = 0; type < types_; ++type)
    for (int unit = 0; unit < instance.units(type); ++unit) ++units_by_memory[*memory++][type];
  std::vector<char> shares_with_others(types_, 0);
  for (const auto& [number, types] : units_by_memory)
    for (const auto& [type, count] : types) {
      shares_with_others[type] = shares_with_others[type] || types.size() > 1;
      units_per_memory_[type] = std::max(units_per_memory_[type], count);
      if (count < instance.units(type)) has_one_memory_[type] = 0;
    }
  for (int type = 0; type < types_; ++type)
    if (shares_with_others[type]) units_per_memory_[type] = 0;
}

void TypeCosts::find_paths() {
  const int n = instance_->tasks();
  has_path_.assign(static_cast<std::size_t>(n) * n, 0);
  const std::vector<int>& order = instance_->graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    char* row = has_path_.data() + static_cast<std::size_t>(*task) * n;
    for (const int successor : instance_->graph().successors(*task)) {
      row[successor] = 1;
      for (int other = 0; other < n; ++other) row[other] |= has_path(successor, other);
    }
  }
}

}  // namespace cosched::dags
