#include "cosched/slurm/select/gang.hpp"

#include <algorithm>

namespace cosched::slurm {

std::vector<Gang::Turn> Gang::start(Entry entry, const NodeBits& cores) {
  const Member fresh{entry, cores, false};
  const auto place = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& other) { return tier(other) < tier(fresh); });
  members_.insert(place, fresh);
  return turns();
}

std::vector<Gang::Turn> Gang::over(int job) {
  const auto place = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& other) { return other.entry.job == job; });
  if (place == members_.end()) return {};
  members_.erase(place);
  return turns();
}

// A suspended job is in nobody's way.
std::vector<Gang::Turn> Gang::turns() {
  std::vector<Turn> changed;
  for (auto one = members_.begin(); one != members_.end(); ++one) {
    const bool suspended = std::any_of(members_.begin(), one, [&](const Member& above) {
      return !above.suspended && tier(above) > tier(*one) && above.cores.meets(one->cores);
    });
    if (suspended != one->suspended) changed.push_back({one->entry.job, suspended});
    one->suspended = suspended;
  }
  return changed;
}

}  // namespace cosched::slurm
