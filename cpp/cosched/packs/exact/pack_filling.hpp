// Whether tasks can be put into so many equal packs: bin packing with a limit on the number of
// items.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::packs::exact {

struct PackFilling {
  enum class FillingAnswer { yes, no, unknown } answer = FillingAnswer::unknown;
  std::vector<std::vector<int>> packs;  ///< indices into `proc_needs`; only where the answer is yes
};

/// Depth first: takes the tasks by decreasing need, and tries each in every pack, of alike packs
/// only the first.  After `max_steps` placements the answer is unknown.  Exponential at worst.
/// Requires 1 <= needs[i] <= procs.
PackFilling fill_packs(const std::vector<int>& proc_needs, int packs, int procs, int max_tasks,
                       std::int64_t max_steps = 2'000'000);

}  // namespace cosched::packs::exact
