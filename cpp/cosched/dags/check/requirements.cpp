#include "cosched/dags/check/requirements.hpp"

#include <tuple>

namespace cosched::dags::check {
namespace {

// A change of what a memory holds; releases come before what takes their place.
struct Change {
  double time, bytes;
  bool operator<(const Change& other) const {
    return std::tie(time, bytes) < std::tie(other.time, other.bytes);
  }
};

struct Held {
  int type, unit;  // one that has this memory
  double capacity;
  std::vector<Change> changes;
};

// Equal numbers: the same memory.
std::size_t memory_number(const Instance& instance, int type, int unit) {
  const std::vector<int>& units = instance.units();
  const auto of_all = static_cast<std::size_t>(
      std::accumulate(units.begin(), units.begin() + type, std::size_t{0}) + unit);
  const Memories& memories = instance.transfers().links().memories;
  if (memories.kind == Memories::Kind::given) return memories.of_unit[of_all];
  return memories.kind == Memories::Kind::host && type == 0 ? 0 : of_all;
}

double capacity_of(const Instance& instance, int type, int unit) {
  const std::vector<int>& units = instance.units();
  return instance.transfers()
      .links()
      .capacity[std::accumulate(units.begin(), units.begin() + type, std::size_t{0}) + unit];
}

void hold(Held& memory, double from, double to, double bytes) {
  const double end = to - kValidateTolerance * to;
  if (!(from < end)) return;
  memory.changes.push_back({from, bytes});
  memory.changes.push_back({end, -bytes});
}

void check_one(Held& memory) {
  std::sort(memory.changes.begin(), memory.changes.end());
  double bytes = 0;
  for (const Change& change : memory.changes) {
    bytes += change.bytes;
    if (bytes <= memory.capacity * (1 + kValidateTolerance)) continue;
    throw InvalidSchedule("the memory of unit " + std::to_string(memory.unit) + " of type " +
                          std::to_string(memory.type) + " holds " + to_text(bytes) + " bytes at " +
                          to_text(change.time) + ": its capacity is " + to_text(memory.capacity));
  }
}

bool together(const Memories& memories, const std::vector<int>& units, int from_type, int from_unit,
              int to_type, int to_unit) {
  if (from_type == to_type && from_unit == to_unit) return true;
  if (memories.kind == Memories::Kind::unit) return false;
  if (memories.kind == Memories::Kind::host) return from_type == 0 && to_type == 0;
  const auto of = [&](int type, int unit) {
    return memories
        .of_unit[std::accumulate(units.begin(), units.begin() + type, std::size_t{0}) + unit];
  };
  return of(from_type, from_unit) == of(to_type, to_unit);
}

}  // namespace

void validate_memory(const Schedule& schedule, const Instance& instance) {
  const Transfers& transfers = instance.transfers();
  if (!transfers.given() || transfers.links().capacity.empty()) return;
  std::vector<std::size_t> row(instance.tasks());
  for (std::size_t r = 0; r < schedule.rows(); ++r) row[schedule.task[r]] = r;
  const auto unit_of = [&](std::size_t r) {
    return static_cast<int>(schedule.unit[schedule.unit_begin[r]]);
  };
  std::map<std::size_t, Held> memories;
  const auto memory_of = [&](std::size_t r) -> Held& {
    const int type = schedule.kind[r], unit = unit_of(r);
    return memories
        .emplace(memory_number(instance, type, unit),
                 Held{type, unit, capacity_of(instance, type, unit), {}})
        .first->second;
  };
  const auto seconds = transfer_seconds(instance.units(), transfers.data(), transfers.links());
  int edge = 0;
  for (int task = 0; task < instance.tasks(); ++task)
    for (const int next : instance.graph().successors(task)) {
      const std::size_t from = row[task], to = row[next];
      const double bytes = transfers.data()[edge];
      const double moving =
          seconds(edge++, schedule.kind[from], unit_of(from), schedule.kind[to], unit_of(to));
      Held &there = memory_of(from), &here = memory_of(to);
      if (&there == &here) {
        hold(there, schedule.start[from], schedule.end[to], bytes);
        continue;
      }
      hold(there, schedule.start[from], schedule.start[to], bytes);
      hold(here, schedule.start[to] - moving, schedule.end[to], bytes);
    }
  for (auto& [number, memory] : memories) check_one(memory);
}

std::function<double(int, int, int, int, int)> transfer_seconds(const std::vector<int>& units,
                                                                const std::vector<double>& data,
                                                                const Links& links) {
  return [units, data, links](int edge, int from_type, int from_unit, int to_type,
                              int to_unit) -> double {
    const double bytes = data[edge];
    if (bytes <= 0 || together(links.memories, units, from_type, from_unit, to_type, to_unit))
      return 0;
    return bytes / links.bandwidth(from_type, to_type) + links.latency(from_type, to_type);
  };
}

Requirements requirements(const Instance& instance) {
  Requirements need;
  need.tasks = instance.tasks();
  need.units = instance.units();
  need.duration = [times = instance.times()](int task, int kind, int count) {
    return count == 1 ? times(task, kind) : kInfinity;
  };
  for (int task = 0; task < instance.tasks(); ++task)
    for (const int next : instance.graph().successors(task)) need.edges.emplace_back(task, next);
  const Transfers& transfers = instance.transfers();
  if (transfers.given())
    need.transfer = transfer_seconds(instance.units(), transfers.data(), transfers.links());
  return need;
}

}  // namespace cosched::dags::check
