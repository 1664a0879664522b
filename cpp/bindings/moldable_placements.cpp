#include "moldable_placements.hpp"

#include <string>
#include <tuple>

#include "cosched/core/errors.hpp"

namespace pybind11::detail {

using MoldablePlacement = cosched::moldable::Placement;

bool type_caster<MoldablePlacement>::load(handle source, bool convert) {
  using Columns = std::tuple<cosched::bindings::IntArray, cosched::bindings::RealArray,
                             cosched::bindings::RealArray>;
  make_caster<Columns> columns;
  if (!columns.load(source, convert)) return false;
  const auto& [procs, start, end] = cast_op<Columns>(columns);
  value = {cosched::bindings::to_ints(procs, "procs"), cosched::bindings::to_reals(start),
           cosched::bindings::to_reals(end)};
  return true;
}

handle type_caster<MoldablePlacement>::cast(const MoldablePlacement& placement, return_value_policy,
                                            handle) {
  return make_tuple(cosched::bindings::int_array(placement.procs),
                    cosched::bindings::real_array(placement.start),
                    cosched::bindings::real_array(placement.end))
      .release();
}

}  // namespace pybind11::detail

namespace cosched::moldable::bindings {

const Placement& checked(const Instance& instance, const Placement& placement) {
  const std::size_t n = instance.jobs();
  if (placement.procs.size() != n || placement.start.size() != n || placement.end.size() != n)
    throw InvalidInstance("procs, start and end need an entry for each of " + std::to_string(n) +
                          " jobs");
  for (std::size_t i = 0; i < n; ++i)
    if (placement.procs[i] < 1 || placement.procs[i] > instance.machines())
      throw InvalidInstance("procs[" + std::to_string(i) +
                            "] = " + std::to_string(placement.procs[i]) + ": expected 1.." +
                            std::to_string(instance.machines()));
  return placement;
}

}  // namespace cosched::moldable::bindings
