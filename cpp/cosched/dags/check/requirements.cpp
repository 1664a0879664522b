#include "cosched/dags/check/requirements.hpp"

#include <numeric>

#include "cosched/core/numeric.hpp"

namespace cosched::dags::check {
namespace {

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
