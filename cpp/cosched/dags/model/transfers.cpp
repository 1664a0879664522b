#include "cosched/dags/model/transfers.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::dags {
namespace {

using std::to_string;

void check_matrix(const Table& matrix, const char* name, int types) {
  if (matrix.rows() != types || matrix.cols() != types)
    throw InvalidInstance(std::string(name) + " has shape (" + to_string(matrix.rows()) + ", " +
                          to_string(matrix.cols()) + "): expected (" + to_string(types) + ", " +
                          to_string(types) + "), a row and a column a resource type");
}

void check_entry(bool is_valid, const char* name, int row, int col, double value,
                 const char* expected) {
  if (!is_valid)
    throw InvalidInstance(std::string(name) + "[" + to_string(row) + ", " + to_string(col) +
                          "] = " + to_text(value) + ": expected " + expected);
}

void check_links(const Links& links, const std::vector<int>& units) {
  const int types = static_cast<int>(units.size());
  check_matrix(links.bandwidth, "bandwidth", types);
  check_matrix(links.latency, "latency", types);
  for (int q = 0; q < types; ++q)
    for (int r = 0; r < types; ++r) {
      const double rate = links.bandwidth(q, r), wait = links.latency(q, r);
      check_entry(rate > 0, "bandwidth", q, r, rate, "bytes/s > 0");
      check_entry(wait >= 0 && wait < kInfinity, "latency", q, r, wait, "finite seconds >= 0");
    }
  if (links.memories.kind != Memories::MemoryKind::listed) return;
  std::int64_t all = 0;
  for (const int count : units) all += count;
  if (static_cast<std::int64_t>(links.memories.memory_of_unit.size()) != all)
    throw InvalidInstance("memories has " + to_string(links.memories.memory_of_unit.size()) +
                          " entries: expected one for each of the " + to_string(all) + " units");
  for (std::size_t k = 0; k < links.memories.memory_of_unit.size(); ++k)
    if (links.memories.memory_of_unit[k] < 0)
      throw InvalidInstance("memories[" + to_string(k) +
                            "] = " + to_string(links.memories.memory_of_unit[k]) +
                            ": expected an integer >= 0");
}

// (memory, units of each type in it) for every memory.
std::map<int, std::vector<double>> units_by_memory(const std::vector<int>& units,
                                                   const std::vector<int>& of_unit) {
  std::map<int, std::vector<double>> counts_by_memory;
  std::size_t k = 0;
  for (std::size_t type = 0; type < units.size(); ++type)
    for (int unit = 0; unit < units[type]; ++unit, ++k) {
      std::vector<double>& counts = counts_by_memory[of_unit[k]];
      counts.resize(units.size(), 0.0);
      ++counts[type];
    }
  return counts_by_memory;
}

// (Q, Q): ordered pairs of different units that share a memory.
Table sharing_pairs(const std::vector<int>& units, const Memories& memories) {
  const auto types = static_cast<std::ptrdiff_t>(units.size());
  Table pairs(types, types);
  if (memories.kind == Memories::MemoryKind::host) pairs(0, 0) = units[0] * (units[0] - 1.0);
  if (memories.kind == Memories::MemoryKind::listed)
    for (const auto& [memory, counts] : units_by_memory(units, memories.memory_of_unit))
      for (std::ptrdiff_t q = 0; q < types; ++q)
        for (std::ptrdiff_t r = 0; r < types; ++r)
          pairs(q, r) += counts[q] * (counts[r] - (q == r ? 1 : 0));
  return pairs;
}

}  // namespace

Transfers::Transfers(const TaskGraph& graph, const std::vector<int>& units,
                     const std::vector<Edge>& edges, const std::vector<double>& data, Links links)
    : types_(static_cast<int>(units.size())), links_(std::move(links)) {
  check_links(links_, units);
  number_edges(graph);
  place_data(graph, edges, data);
  compare_memories(units);
  group_units(units);
  compare_capacities(units);
  double cost_sum = 0, greatest_cost = 0;
  for (std::size_t edge = 0; edge < data_.size(); ++edge) {
    double dearest = 0;
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r)
        dearest = std::max(dearest, cost_between_memories(static_cast<int>(edge), q, r));
    cost_sum += dearest;
    greatest_cost = std::max(greatest_cost, dearest);
  }
  if (cost_sum == kInfinity) throw InvalidInstance("data / bandwidth: their sum overflows");
  const bool one_memory = mean_latency_ == 0 && mean_inverse_bandwidth_ == 0;
  is_free_ = greatest_cost == 0 || one_memory;
}

void Transfers::number_edges(const TaskGraph& graph) {
  out_begin_.assign(1, 0);
  in_begin_.assign(1, 0);
  for (int task = 0; task < graph.tasks(); ++task) {
    out_begin_.push_back(out_begin_.back() + graph.successors(task).size());
    in_begin_.push_back(in_begin_.back() + graph.predecessors(task).size());
  }
  in_edges_.resize(graph.edges());
  std::vector<int> next(in_begin_.begin(), in_begin_.end() - 1);
  for (int task = 0; task < graph.tasks(); ++task) {
    int edge = out_begin_[task];  // predecessors rise, as tasks do here
    for (const int after : graph.successors(task)) in_edges_[next[after]++] = edge++;
  }
}

void Transfers::place_data(const TaskGraph& graph, const std::vector<Edge>& edges,
                           const std::vector<double>& data) {
  if (data.size() != edges.size())
    throw InvalidInstance("data has " + to_string(data.size()) +
                          " entries: expected one for each of the " + to_string(edges.size()) +
                          " edges");
  data_.assign(graph.edges(), -1);
  for (std::size_t k = 0; k < data.size(); ++k) {
    const auto [before, after] = edges[k];
    const std::string name = "data[" + to_string(k) + "] = " + to_text(data[k]);
    if (!(data[k] >= 0 && data[k] < kInfinity))
      throw InvalidInstance(name + ": expected finite bytes >= 0");
    const TaskGraph::TaskRange successors = graph.successors(before);
    const auto place =
        std::lower_bound(successors.begin(), successors.end(), after) - successors.begin();
    double& stored = data_[out_begin_[before] + static_cast<int>(place)];
    if (stored >= 0 && stored != data[k])
      throw InvalidInstance(name + ": edge (" + to_string(before) + ", " + to_string(after) +
                            ") was there with " + to_text(stored) +
                            ": expected an edge once, or the same data each time");
    stored = data[k] + 0.0;  // no negative zero
  }
}

void Transfers::compare_memories(const std::vector<int>& units) {
  first_unit_.assign(1, 0);
  for (const int count : units) first_unit_.push_back(first_unit_.back() + count);
  const Table sharing = sharing_pairs(units, links_.memories);
  shares_memory_.assign(static_cast<std::size_t>(types_) * types_, 0);
  double all_pairs = 0;
  for (int q = 0; q < types_; ++q)
    for (int r = 0; r < types_; ++r) {
      const double pairs = static_cast<double>(units[q]) * (units[r] - (q == r ? 1 : 0));
      const double remote_pairs = pairs - sharing(q, r);
      all_pairs += pairs;
      mean_latency_ += remote_pairs * links_.latency(q, r);
      mean_inverse_bandwidth_ += remote_pairs / links_.bandwidth(q, r);
      shares_memory_[q * types_ + r] = q == r || sharing(q, r) > 0;
    }
  if (all_pairs > 0) {
    mean_latency_ /= all_pairs;
    mean_inverse_bandwidth_ /= all_pairs;
  }
  for (int q = 0; q < types_; ++q) has_own_memories_.push_back(sharing.row(q).greatest() == 0);
}

void Transfers::group_units(const std::vector<int>& units) {
  const bool has_memory_list = links_.memories.kind == Memories::MemoryKind::listed;
  for (int type = 0; type < types_; ++type) {
    const std::int64_t first = memory({type, 0});
    bool has_all = units[type] == 1 || (!has_memory_list && !has_own_memories_[type]);
    if (has_memory_list) {
      for (int unit = 0; unit < units[type]; ++unit)
        units_by_type_and_memory_[{type, memory({type, unit})}].push_back(unit);
      has_all = static_cast<int>(units_by_type_and_memory_[{type, first}].size()) == units[type];
    }
    common_memory_.push_back(has_all ? first : kNoMemory);
  }
}

// Those who share a memory say the same of it.
void Transfers::compare_capacities(const std::vector<int>& units) {
  const std::vector<double>& capacity = links_.capacity;
  if (capacity.empty()) return;
  if (static_cast<std::int64_t>(capacity.size()) != first_unit_.back())
    throw InvalidInstance("memory_capacity has " + to_string(capacity.size()) +
                          " entries: expected one for each of the " +
                          to_string(first_unit_.back()) + " units");
  std::map<std::int64_t, std::size_t> first_unit_of_memory;
  bool has_finite = false;
  std::size_t k = 0;
  for (int type = 0; type < types_; ++type)
    for (int unit = 0; unit < units[type]; ++unit, ++k) {
      const std::string name = "memory_capacity[" + to_string(k) + "] = " + to_text(capacity[k]);
      if (!(capacity[k] >= 0)) throw InvalidInstance(name + ": expected bytes >= 0");
      const auto [first_unit_entry, is_first] =
          first_unit_of_memory.emplace(memory({type, unit}), k);
      if (capacity[first_unit_entry->second] != capacity[k])
        throw InvalidInstance(name + ": unit " + to_string(first_unit_entry->second) +
                              " has the same memory, and " +
                              to_text(capacity[first_unit_entry->second]));
      has_finite = has_finite || capacity[k] < kInfinity;
    }
  has_memory_limits_ =
      has_finite && std::any_of(data_.begin(), data_.end(), [](double d) { return d > 0; });
}

std::int64_t Transfers::memory(Place place) const {
  const std::int64_t unit = first_unit_[place.type] + place.unit;
  switch (links_.memories.kind) {
    case Memories::MemoryKind::unit:
      return unit;
    case Memories::MemoryKind::host:
      return place.type == 0 ? 0 : unit;
    case Memories::MemoryKind::listed:
      return links_.memories.memory_of_unit[unit];
  }
  return unit;
}

}  // namespace cosched::dags
