#include "cosched/slurm/select/gang.hpp"

namespace cosched::slurm {

std::vector<Gang::GangSwitch> Gang::start(QueueEntry entry, const NodeBits& cores) {
  const GangJob started{entry, cores, false};
  const auto place = std::find_if(gang_jobs_.begin(), gang_jobs_.end(), [&](const GangJob& other) {
    return tier(other) < tier(started);
  });
  gang_jobs_.insert(place, started);
  return update_suspensions();
}

std::vector<Gang::GangSwitch> Gang::end(int job) {
  const auto ended = std::find_if(gang_jobs_.begin(), gang_jobs_.end(),
                                  [&](const GangJob& other) { return other.entry.job == job; });
  if (ended == gang_jobs_.end()) return {};
  gang_jobs_.erase(ended);
  return update_suspensions();
}

// A job is suspended while a job of a higher tier runs on one of its cores.  A suspended job
// suspends no other one.
std::vector<Gang::GangSwitch> Gang::update_suspensions() {
  std::vector<GangSwitch> switches;
  for (auto job = gang_jobs_.begin(); job != gang_jobs_.end(); ++job) {
    const bool is_suspended = std::any_of(gang_jobs_.begin(), job, [&](const GangJob& above) {
      return !above.is_suspended && tier(above) > tier(*job) && above.cores.intersects(job->cores);
    });
    if (is_suspended != job->is_suspended) switches.push_back({job->entry.job, is_suspended});
    job->is_suspended = is_suspended;
  }
  return switches;
}

}  // namespace cosched::slurm
