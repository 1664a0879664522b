// Can these tasks be put into so many equal packs?  (Bin packing with a limit on the items.)
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::packs::exact {

struct Filling {
  enum class Answer { yes, no, unknown } answer = Answer::unknown;
  std::vector<std::vector<int>> packs;  // indices into `needs`, when yes
};

/// Depth first: tasks by decreasing need, each into every pack with a different rest; at most
/// `most_steps` placements, then the answer is unknown.  Exponential at worst.
/// Requires 1 <= needs[i] <= procs.
Filling fill_packs(const std::vector<int>& needs, int packs, int procs, int max_tasks,
                   std::int64_t most_steps = 2'000'000);

}  // namespace cosched::packs::exact
