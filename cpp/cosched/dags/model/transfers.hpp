// What it costs to move data along the edges of a task graph: the delay model.
//
// cost(e, u, v) = 0 if data_e = 0 or u and v share a memory, else
//   latency(q_u, q_v) + data_e / bandwidth(q_u, q_v),
// row = type of the sender, column = type of the receiver; task j starts on v no earlier than the
// end of each predecessor i on u plus that.  No contention, transfers overlap computation.
#pragma once

#include <cstdint>
#include <map>

#include "cosched/core/numeric.hpp"
#include "cosched/core/task_graph.hpp"
#include "cosched/core/times.hpp"

namespace cosched::dags {

/// No unit's memory.
inline constexpr std::int64_t kNoMemory = -1;

/// A unit: its type, and its number within the type.
struct Place {
  int type, unit;
};

/// Which units share a memory.
struct Memories {
  enum class MemoryKind {
    host,    // all units of type 0 share one, every other unit has its own
    unit,    // every unit has its own
    listed,  // of_unit
  };
  MemoryKind kind = MemoryKind::host;
  std::vector<int> memory_of_unit;  // a number a unit, type by type; only where given
};

/// Between which memories data goes, and how fast.
struct Links {
  Table bandwidth;  // (Q, Q) bytes / s, > 0, maybe infinite
  Table latency;    // (Q, Q) seconds, >= 0
  Memories memories;
  std::vector<double> capacity = {};  // bytes of each unit's memory, type by type; empty: no limits
};

/// Immutable.  Edges are numbered by (predecessor, successor), so those that leave a task follow
/// each other in the order of graph.successors(task).
class Transfers {
 public:
  /// Nothing moves.
  Transfers() = default;
  /// data[k] bytes of edges[k]; an edge that is there twice has the same data each time.  Throws
  /// InvalidInstance that names argument, place and value.  O((e + n) log n + U log U).
  Transfers(const TaskGraph& graph, const std::vector<int>& units, const std::vector<Edge>& edges,
            const std::vector<double>& data, Links links);

  /// Whether data was given.
  bool has_data() const { return !out_begin_.empty(); }
  /// Whether no edge costs anything between any two units: then every algorithm runs as it does
  /// without data.
  bool is_free() const { return is_free_; }

  /// Of each edge, bytes.
  const std::vector<double>& data() const { return data_; }
  const Links& links() const { return links_; }

  /// Number of the edge to the first successor; that to the k-th is k more.
  int first_out_edge(int task) const { return out_begin_[task]; }
  /// in_edges(task)[k] = number of the edge from the k-th predecessor.
  const int* in_edges(int task) const { return in_edges_.data() + in_begin_[task]; }

  /// Whether some memory is limited, and some data takes room.
  bool has_memory_limits() const { return has_memory_limits_; }
  /// Bytes of the unit's memory, infinite where there is no limit.
  double capacity(Place place) const {
    return links_.capacity.empty() ? kInfinity
                                   : links_.capacity[first_unit_[place.type] + place.unit];
  }

  /// Equal for two units that share a memory, and for no others.
  std::int64_t memory(Place place) const;

  /// Seconds between two units.
  double cost(int edge, Place from, Place to) const {
    return memory(from) == memory(to) ? 0 : cost_between_memories(edge, from.type, to.type);
  }
  /// Seconds between two memories.
  double cost_between_memories(int edge, int from_type, int to_type) const {
    const double bytes = data_[edge];
    if (!(bytes > 0)) return 0;
    return links_.latency(from_type, to_type) + bytes / links_.bandwidth(from_type, to_type);
  }
  /// min over units u of one type, v of the other, u = v allowed, of cost(edge, u, v): 0 within a
  /// type.
  double least_cost(int edge, int from_type, int to_type) const {
    return shares_memory_[from_type * types_ + to_type]
               ? 0
               : cost_between_memories(edge, from_type, to_type);
  }
  /// Mean of cost(edge, u, v) over ordered pairs of different units; 0 on one unit.
  double mean_cost(int edge) const {
    return data_[edge] > 0 ? mean_latency_ + data_[edge] * mean_inverse_bandwidth_ : 0;
  }
  /// Whether all units of the type are in this memory.
  bool has_all_units(std::int64_t memory, int type) const { return common_memory_[type] == memory; }
  /// visit(unit) for each unit of the type in this memory, increasing.
  template <class Visit>
  void visit_units_in(int type, std::int64_t memory, Visit visit) const;

 private:
  void number_edges(const TaskGraph& graph);
  void place_data(const TaskGraph& graph, const std::vector<Edge>& edges,
                  const std::vector<double>& data);
  void compare_memories(const std::vector<int>& units);
  void group_units(const std::vector<int>& units);
  void compare_capacities(const std::vector<int>& units);

  int types_ = 0;
  bool is_free_ = true;
  bool has_memory_limits_ = false;
  Links links_;
  std::vector<double> data_;
  std::vector<int> out_begin_, in_begin_, in_edges_;
  std::vector<std::int64_t> first_unit_;     // of each type, over all units
  std::vector<char> shares_memory_;          // (Q, Q): some unit of each share a memory
  std::vector<char> has_own_memories_;       // of each type: each of its units in its memory
  std::vector<std::int64_t> common_memory_;  // of each type: that of all its units, or none
  std::map<std::pair<int, std::int64_t>, std::vector<int>>
      units_by_type_and_memory_;  // by type and memory
  double mean_latency_ = 0, mean_inverse_bandwidth_ = 0;
};

template <class Visit>
void Transfers::visit_units_in(int type, std::int64_t memory, Visit visit) const {
  if (links_.memories.kind == Memories::MemoryKind::listed) {
    const auto units_in_memory = units_by_type_and_memory_.find({type, memory});
    if (units_in_memory == units_by_type_and_memory_.end()) return;
    for (const int unit : units_in_memory->second) visit(unit);
  } else if (memory == common_memory_[type]) {
    for (int unit = 0; unit < first_unit_[type + 1] - first_unit_[type]; ++unit) visit(unit);
  } else if (memory >= first_unit_[type] && memory < first_unit_[type + 1]) {
    visit(static_cast<int>(memory - first_unit_[type]));
  }
}

}  // namespace cosched::dags
