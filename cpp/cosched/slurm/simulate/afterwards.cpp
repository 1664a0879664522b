#include "cosched/slurm/simulate/afterwards.hpp"

#include <map>
#include <set>

namespace cosched::slurm {

void trim_pauses_after_completion(const Scenario& scenario, const Clocks& clocks,
                                  Outcome& outcome) {
  if (outcome.pauses.empty()) return;
  std::vector<Pause> kept;
  std::vector<double> done = outcome.start_exact;
  for (std::size_t j = 0; j < done.size(); ++j) {
    const bool told = j < clocks.run_lengths.size() && !std::isnan(clocks.run_lengths[j]);
    done[j] += told ? clocks.run_lengths[j] : scenario.job(static_cast<int>(j)).runtime;
  }
  for (const Pause& pause : outcome.pauses) {  // by their begin
    if (pause.begin >= done[pause.job]) continue;
    if (!std::isnan(pause.end)) {
      done[pause.job] += pause.end - pause.begin;
      kept.push_back(pause);
    } else if (outcome.is_killed[pause.job]) {
      outcome.end_exact[pause.job] = pause.begin;
      outcome.end[pause.job] = std::floor(pause.begin);
    }
  }
  outcome.pauses = std::move(kept);
}

void propagate_blocks(const Scenario& scenario, Outcome& outcome) {
  std::map<int, std::string> why(outcome.blocked_by_limit.begin(), outcome.blocked_by_limit.end()),
      of_array;
  std::set<int> names;
  for (std::size_t known = 0; known < why.size();) {
    known = why.size();
    for (const auto& [job, reason] : why) {
      const Conditions& own = scenario.job(job).conditions;
      names.insert(std::max(own.singleton, own.singleton_name));
      of_array.emplace(scenario.array_of(job), reason);
    }
    names.erase(-1);
    of_array.erase(-1);
    for (int job = 0; job < static_cast<int>(outcome.start.size()); ++job) {
      if (!std::isnan(outcome.start[job]) || why.count(job)) continue;
      const Conditions& own = scenario.job(job).conditions;
      bool waits = names.count(own.singleton) > 0;
      for (const Dependency& dependency : own.dependencies)
        for (const int before : dependency.jobs) waits |= why.count(before) > 0;
      if (const auto found = of_array.find(scenario.array_of(job)); found != of_array.end())
        why.emplace(job, found->second);
      else if (waits)
        why.emplace(job, "Dependency");
    }
  }
  outcome.blocked_by_limit.assign(why.begin(), why.end());
}

}  // namespace cosched::slurm
