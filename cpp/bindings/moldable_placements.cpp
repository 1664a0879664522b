#include "moldable_placements.hpp"

#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::moldable::bindings {

py::tuple placement_tuple(const Placement& placement) {
  return py::make_tuple(int_array(placement.procs), real_array(placement.start),
                        real_array(placement.end));
}

Placement to_placement(const IntArray& procs, const RealArray& start, const RealArray& end) {
  return {to_ints(procs, "procs"), to_reals(start), to_reals(end)};
}

void require_placement(const Instance& instance, const Placement& placement) {
  const std::size_t n = instance.jobs();
  if (placement.procs.size() != n || placement.start.size() != n || placement.end.size() != n)
    throw InvalidInstance("procs, start and end need an entry for each of " + std::to_string(n) +
                          " jobs");
  for (std::size_t i = 0; i < n; ++i)
    if (placement.procs[i] < 1 || placement.procs[i] > instance.machines())
      throw InvalidInstance("procs[" + std::to_string(i) +
                            "] = " + std::to_string(placement.procs[i]) + ": expected 1.." +
                            std::to_string(instance.machines()));
}

std::vector<Placement> to_starts(const Instance& instance, const Placements& starts) {
  std::vector<Placement> made;
  for (const auto& [procs, start, end] : starts) {
    made.push_back(to_placement(procs, start, end));
    require_placement(instance, made.back());
  }
  return made;
}

}  // namespace cosched::moldable::bindings
