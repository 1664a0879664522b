#include "cosched/dags/model/type_costs.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "cosched/core/numeric.hpp"

namespace cosched::dags {

TypeCosts::TypeCosts(const Instance& instance, bool paths)
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
  out_.resize(edges());
  std::iota(out_.begin(), out_.end(), 0);
  in_.resize(edges());
  std::vector<int> next(in_begin_.begin(), in_begin_.end() - 1);
  for (int edge = 0; edge < edges(); ++edge) in_[next[to_[edge]]++] = edge;

  compare_memories();
  if (paths) follow_paths();
  const Transfers& transfers = instance.transfers();
  least_.assign(static_cast<std::size_t>(edges()) * types_ * types_, 0.0);
  apart_ = least_;
  if (!transfers.given()) return;
  for (int edge = 0; edge < edges(); ++edge)
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        const std::size_t at = index(edge, q, r);
        const bool never = q == r && one_memory_[q];
        least_[at] = transfers.type_cost(edge, q, r);
        apart_[at] = never ? kInfinity : transfers.remote(edge, q, r);
        any_ = any_ || (!never && apart_[at] > 0);
      }
}

void TypeCosts::follow_paths() {
  const int n = instance_->tasks();
  reach_.assign(static_cast<std::size_t>(n) * n, 0);
  const std::vector<int>& order = instance_->graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    char* row = reach_.data() + static_cast<std::size_t>(*task) * n;
    for (const int next : instance_->graph().successors(*task)) {
      row[next] = 1;
      for (int other = 0; other < n; ++other) row[other] |= reaches(next, other);
    }
  }
}

void TypeCosts::compare_memories() {
  const Instance& instance = *instance_;
  together_.assign(types_, 0);
  one_memory_.assign(types_, 1);
  if (!instance.transfers().given()) return;
  const Memories& memories = instance.transfers().links().memories;
  if (memories.kind != Memories::Kind::given) {
    for (int type = 0; type < types_; ++type) {
      const bool host = type == 0 && memories.kind == Memories::Kind::host;
      together_[type] = host ? instance.units(0) : 1;
      one_memory_[type] = host || instance.units(type) == 1;
    }
    return;
  }
  std::map<int, std::map<int, int>> units;  // of each type in each memory
  auto memory = memories.of_unit.begin();
  for (int type = 0; type < types_; ++type)
    for (int unit = 0; unit < instance.units(type); ++unit) ++units[*memory++][type];
  std::vector<char> mixed(types_, 0);
  for (const auto& [number, types] : units)
    for (const auto& [type, count] : types) {
      mixed[type] = mixed[type] || types.size() > 1;
      together_[type] = std::max(together_[type], count);
      if (count < instance.units(type)) one_memory_[type] = 0;
    }
  for (int type = 0; type < types_; ++type)
    if (mixed[type]) together_[type] = 0;
}

}  // namespace cosched::dags
