#include "cosched/cluster/dfrs/mcb8_search.hpp"

#include <algorithm>
#include <utility>

#include "cosched/cluster/dfrs/value_kinds.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

Target yield_target(std::vector<double> cpu) {
  // The order by Y c_j is that by c_j, whatever Y > 0; at Y = 0 all are in the memory list.
  std::vector<int> kinds_by_cpu = sort_by_decreasing_value(cpu);
  return [kinds_by_cpu = std::move(kinds_by_cpu), cpu = std::move(cpu)](
             double yield, const Mcb8&, CpuRequirements& requirements) {
    requirements.cpu.resize(cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) requirements.cpu[i] = yield * cpu[i];
    if (requirements.kinds_by_cpu.empty()) requirements.kinds_by_cpu = kinds_by_cpu;
    return true;
  };
}

Target stretch_target(std::vector<double> cpu, std::vector<double> flow_time,
                      std::vector<double> virtual_time, double period) {
  return [cpu = std::move(cpu), flow_time = std::move(flow_time),
          virtual_time = std::move(virtual_time),
          period](double z, const Mcb8& mcb8, CpuRequirements& requirements) {
    requirements.cpu.resize(cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      const double yield = std::max(0.0, (z * (flow_time[i] + period) - virtual_time[i]) / period);
      const bool is_above_one = yield > 1 + kExactTolerance;
      if (is_above_one && !mcb8.is_dropped(static_cast<int>(i))) return false;
      requirements.cpu[i] = std::min(yield, 1.0) * cpu[i];
    }
    requirements.kinds_by_cpu = sort_by_decreasing_value(requirements.cpu);
    return true;
  };
}

std::optional<double> find_best_target(Mcb8& mcb8, const Target& target, double accuracy) {
  CpuRequirements requirements;
  const auto pack_and_save = [&](double value) {
    const bool is_reachable = target(value, mcb8, requirements);
    if (!is_reachable) return false;
    const bool has_packed = mcb8.pack(requirements.cpu, requirements.kinds_by_cpu);
    if (has_packed) mcb8.save_packing();
    return has_packed;
  };
  if (pack_and_save(1)) return 1;
  if (!pack_and_save(0)) return std::nullopt;
  double feasible = 0;
  double infeasible = 1;
  while (infeasible - feasible > accuracy) {
    const double middle = (feasible + infeasible) / 2;
    const bool has_packed = pack_and_save(middle);
    (has_packed ? feasible : infeasible) = middle;
  }
  return feasible;
}

}  // namespace cosched::cluster::dfrs
