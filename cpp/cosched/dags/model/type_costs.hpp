// What a transfer costs at least, by the types of the two tasks of an edge, as the bound
// `transfers` uses it.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags {

/// Edges are numbered as in transfers.hpp: by (predecessor, successor).
class TypeCosts {
 public:
  /// `paths`: reaches() may be asked; n^2 bytes.
  explicit TypeCosts(const Instance& instance, bool paths = false)
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

  const Instance& instance() const { return *instance_; }
  int types() const { return types_; }
  int edges() const { return static_cast<int>(from_.size()); }
  int from(int edge) const { return from_[edge]; }
  int to(int edge) const { return to_[edge]; }

  struct Edges {
    const int *first, *last;
    const int* begin() const { return first; }
    const int* end() const { return last; }
    int size() const { return static_cast<int>(last - first); }
  };
  /// Numbers of the edges that enter (leave) a task, by increasing other end.
  Edges in(int task) const { return range(in_begin_, in_, task); }
  Edges out(int task) const { return range(out_begin_, out_, task); }
  Edges at(int task, bool backward) const { return backward ? out(task) : in(task); }
  int other(int edge, bool backward) const { return backward ? to_[edge] : from_[edge]; }

  /// min over units u of type q, v of type r, u = v allowed, of cost(e, u, v).
  double least(int edge, int q, int r) const { return least_[index(edge, q, r)]; }
  /// Between two units of the types that do not share a memory; infinite where all do.
  double apart(int edge, int q, int r) const { return apart_[index(edge, q, r)]; }
  /// Whether some transfer may cost something.
  bool any() const { return any_; }

  /// Most units of the type in one memory, where no unit of another type shares a memory with it;
  /// otherwise 0.
  int together(int type) const { return together_[type]; }

  /// Whether a path leads from one task to another.
  bool reaches(int from, int to) const {
    return reach_[static_cast<std::size_t>(from) * instance_->tasks() + to];
  }

  /// Ways of an edge: its ends on two types (q, r), on one type in one memory (r, r), or on one
  /// type in different memories, where the units of the type share memories with no other.
  int ways() const { return types_ * types_ + types_; }
  int way(int q, int r) const { return q * types_ + r; }
  int far_way(int type) const { return types_ * types_ + type; }
  int first_type(int way) const { return way < types_ * types_ ? way / types_ : far_type(way); }
  int second_type(int way) const { return way < types_ * types_ ? way % types_ : far_type(way); }
  /// Whether the ends are in one memory, of units of one type.
  bool at_home(int way) const {
    const int type = first_type(way);
    return way == this->way(type, type) && together_[type] > 0;
  }
  /// What it costs at least; infinite where there are no such units.
  double cost(int edge, int way) const {
    if (way < types_ * types_) return least(edge, way / types_, way % types_);
    const int type = far_type(way);
    return together_[type] > 0 ? apart(edge, type, type) : kInfinity;
  }

 private:
  int far_type(int way) const { return way - types_ * types_; }
  std::size_t index(int edge, int q, int r) const {
    return (static_cast<std::size_t>(edge) * types_ + q) * types_ + r;
  }
  static Edges range(const std::vector<int>& begin, const std::vector<int>& items, int task) {
    return {items.data() + begin[task], items.data() + begin[task + 1]};
  }
  void compare_memories() {
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

  void follow_paths() {
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

  const Instance* instance_;
  int types_;
  std::vector<int> from_, to_, in_begin_, in_, out_begin_, out_;
  std::vector<double> least_, apart_;
  std::vector<char> reach_;
  bool any_ = false;
  std::vector<int> together_;
  std::vector<char> one_memory_;  // all units of the type share one
};

}  // namespace cosched::dags
