#include "cosched/dags/check/transfer_seconds.hpp"

#include <numeric>

namespace cosched::dags::check {
namespace {

bool share_memory(const Memories& memories, const std::vector<int>& units, int from_type,
                  int from_unit, int to_type, int to_unit) {
  if (from_type == to_type && from_unit == to_unit) return true;
  if (memories.kind == Memories::MemoryKind::unit) return false;
  if (memories.kind == Memories::MemoryKind::host) return from_type == 0 && to_type == 0;
  const auto memory_of = [&](int type, int unit) {
    return memories
        .memory_of_unit[std::accumulate(units.begin(), units.begin() + type, std::size_t{0}) +
                        unit];
  };
  return memory_of(from_type, from_unit) == memory_of(to_type, to_unit);
}

}  // namespace

std::function<double(int, int, int, int, int)> transfer_seconds(const std::vector<int>& units,
                                                                const std::vector<double>& data,
                                                                const Links& links) {
  return [units, data, links](int edge, int from_type, int from_unit, int to_type,
                              int to_unit) -> double {
    const double bytes = data[edge];
    if (bytes <= 0 || share_memory(links.memories, units, from_type, from_unit, to_type, to_unit))
      return 0;
    return bytes / links.bandwidth(from_type, to_type) + links.latency(from_type, to_type);
  };
}

}  // namespace cosched::dags::check
