#include "cosched/slurm/state/held_up.hpp"

#include "cosched/slurm/state/tables.hpp"

namespace cosched::slurm {

std::vector<std::optional<HeldUp>> held_up(const Scenario& scenario) {
  Tables tables(scenario, 0, {});
  const int jobs = static_cast<int>(scenario.jobs().size());
  for (int job = 0; job < jobs; ++job)
    if (scenario.job(job).running) tables.hold(job);
  std::vector<std::optional<HeldUp>> all(scenario.jobs().size());
  const Policy& policy = tables.policy;
  for (int job = 0; job < jobs; ++job) {
    if (scenario.job(job).running) continue;
    const Entry entry{job, scenario.job(job).partition};
    Policy::Held held = policy.before_nodes(entry);
    if (!held) held = policy.with_nodes(entry, scenario.job(entry).nodes);
    if (held)
      all[static_cast<std::size_t>(job)] = HeldUp{reason_of(*held), held->limit.value,
                                                  policy.counted(*held), policy.running_in(*held)};
  }
  return all;
}

}  // namespace cosched::slurm
