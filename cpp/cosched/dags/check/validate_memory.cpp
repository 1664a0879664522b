#include "cosched/dags/check/validate_memory.hpp"

#include <map>
#include <tuple>

#include "cosched/core/validate.hpp"
#include "cosched/dags/check/transfer_seconds.hpp"

namespace cosched::dags::check {
namespace {

// A change of what a memory holds; releases come before what takes their place.
struct MemoryChange {
  double time, bytes;
  bool operator<(const MemoryChange& other) const {
    return std::tie(time, bytes) < std::tie(other.time, other.bytes);
  }
};

struct MemoryUse {
  int type, unit;  // one that has this memory
  double capacity;
  std::vector<MemoryChange> changes;
};

// Equal numbers: the same memory.
std::size_t memory_number(const Instance& instance, int type, int unit) {
  const std::vector<int>& units = instance.units();
  const auto number = static_cast<std::size_t>(
      std::accumulate(units.begin(), units.begin() + type, std::size_t{0}) + unit);
  const Memories& memories = instance.transfers().links().memories;
  if (memories.kind == Memories::MemoryKind::listed) return memories.memory_of_unit[number];
  return memories.kind == Memories::MemoryKind::host && type == 0 ? 0 : number;
}

double capacity_of(const Instance& instance, int type, int unit) {
  const std::vector<int>& units = instance.units();
  return instance.transfers()
      .links()
      .capacity[std::accumulate(units.begin(), units.begin() + type, std::size_t{0}) + unit];
}

void hold_bytes(MemoryUse& memory, double from, double to, double bytes) {
  const double end = to - kValidateTolerance * to;
  if (!(from < end)) return;
  memory.changes.push_back({from, bytes});
  memory.changes.push_back({end, -bytes});
}

void check_capacity(MemoryUse& memory) {
  std::sort(memory.changes.begin(), memory.changes.end());
  double bytes = 0;
  for (const MemoryChange& change : memory.changes) {
    bytes += change.bytes;
    if (bytes <= memory.capacity * (1 + kValidateTolerance)) continue;
    throw InvalidSchedule("the memory of unit " + std::to_string(memory.unit) + " of type " +
                          std::to_string(memory.type) + " holds " + to_text(bytes) + " bytes at " +
                          to_text(change.time) + ": its capacity is " + to_text(memory.capacity));
  }
}

}  // namespace

void validate_memory(const Schedule& schedule, const Instance& instance) {
  const Transfers& transfers = instance.transfers();
  if (!transfers.has_data() || transfers.links().capacity.empty()) return;
  std::vector<std::size_t> row(instance.tasks());
  for (std::size_t r = 0; r < schedule.rows(); ++r) row[schedule.task[r]] = r;
  const auto unit_of = [&](std::size_t r) {
    return static_cast<int>(schedule.unit[schedule.unit_begin[r]]);
  };
  std::map<std::size_t, MemoryUse> memories;
  const auto memory_of = [&](std::size_t r) -> MemoryUse& {
    const int type = schedule.kind[r], unit = unit_of(r);
    return memories
        .emplace(memory_number(instance, type, unit),
                 MemoryUse{type, unit, capacity_of(instance, type, unit), {}})
        .first->second;
  };
  const auto seconds = transfer_seconds(instance.units(), transfers.data(), transfers.links());
  int edge = 0;
  for (int task = 0; task < instance.tasks(); ++task)
    for (const int next : instance.graph().successors(task)) {
      const std::size_t from = row[task], to = row[next];
      const double bytes = transfers.data()[edge];
      const double transfer_time =
          seconds(edge++, schedule.kind[from], unit_of(from), schedule.kind[to], unit_of(to));
      MemoryUse &sender_memory = memory_of(from), &receiver_memory = memory_of(to);
      if (&sender_memory == &receiver_memory) {
        hold_bytes(sender_memory, schedule.start[from], schedule.end[to], bytes);
        continue;
      }
      hold_bytes(sender_memory, schedule.start[from], schedule.start[to], bytes);
      hold_bytes(receiver_memory, schedule.start[to] - transfer_time, schedule.end[to], bytes);
    }
  for (auto& [number, memory] : memories) check_capacity(memory);
}

}  // namespace cosched::dags::check
