// What a transfer costs at least, by the types of the two tasks of an edge, as the bound
// `transfers` uses it.
#pragma once

#include <algorithm>
#include <numeric>

#include "cosched/core/assert.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags {

/// Least costs of the edges of a graph by the types of their ends.  Edges are numbered as in
/// transfers.hpp: by (predecessor, successor).
class TypeCosts {
 public:
  /// `finds_paths`: computes what has_path() needs, n^2 bytes.  O(n^2 + e (n + Q^2)).
  explicit TypeCosts(const Instance& instance, bool finds_paths = false);

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
  /// Numbers of the edges that enter a task, and that leave it, by increasing other end.
  Edges in_edges(int task) const { return range(in_begin_, in_edges_, task); }
  Edges out_edges(int task) const { return range(out_begin_, out_edges_, task); }
  /// The edges that enter a task, or leave it where the graph is followed backward.
  Edges preceding_edges(int task, bool backward) const {
    return backward ? out_edges(task) : in_edges(task);
  }
  /// The end of an edge from which it comes, or to which it goes where the graph is followed
  /// backward.
  int preceding_task(int edge, bool backward) const { return backward ? to_[edge] : from_[edge]; }

  /// min over units u of type q and v of type r, u = v allowed, of the seconds of the edge.
  double least_cost(int edge, int q, int r) const { return least_cost_[cost_index(edge, q, r)]; }
  /// Seconds of the edge between two units of the types in different memories; infinite where all
  /// units of both share one memory.
  double cross_memory_cost(int edge, int q, int r) const {
    return cross_memory_cost_[cost_index(edge, q, r)];
  }
  /// Whether some transfer takes more than 0 seconds between some units.
  bool has_costs() const { return has_costs_; }

  /// The most units of the type in one memory; 0 where units of other types share a memory with
  /// them.
  int units_per_memory(int type) const { return units_per_memory_[type]; }

  /// Whether a path leads from one task to another.  Requires `finds_paths`.
  bool has_path(int from, int to) const {
    COSCHED_ASSERT(!has_path_.empty());
    return has_path_[static_cast<std::size_t>(from) * instance_->tasks() + to];
  }

  /// A placement says where the two ends of an edge run: on types (q, r); on one type in one
  /// memory, (r, r); or on one type in different memories, where units of the type share memories
  /// with no other type.  This is their number.
  int placements() const { return types_ * types_ + types_; }
  int placement(int q, int r) const { return q * types_ + r; }
  int cross_memory_placement(int type) const { return types_ * types_ + type; }
  int first_type(int placement) const {
    return placement < types_ * types_ ? placement / types_ : cross_memory_type(placement);
  }
  int second_type(int placement) const {
    return placement < types_ * types_ ? placement % types_ : cross_memory_type(placement);
  }
  /// Whether a placement has both ends on units of one type in one memory.
  bool is_same_memory(int placement) const {
    const int type = first_type(placement);
    return placement == this->placement(type, type) && units_per_memory_[type] > 0;
  }
  /// Least seconds of an edge at a placement; infinite where there are no such units.
  double cost(int edge, int placement) const;

 private:
  int cross_memory_type(int placement) const { return placement - types_ * types_; }
  std::size_t cost_index(int edge, int q, int r) const {
    return (static_cast<std::size_t>(edge) * types_ + q) * types_ + r;
  }
  static Edges range(const std::vector<int>& begin, const std::vector<int>& items, int task) {
    return {items.data() + begin[task], items.data() + begin[task + 1]};
  }
  void count_units_per_memory();
  void find_paths();

  const Instance* instance_;
  int types_;
  std::vector<int> from_, to_, in_begin_, in_edges_, out_begin_, out_edges_;
  std::vector<double> least_cost_, cross_memory_cost_;
  std::vector<char> has_path_;
  bool has_costs_ = false;
  std::vector<int> units_per_memory_;
  std::vector<char> has_one_memory_;  // all units of the type share one
};

}  // namespace cosched::dags
