#include "cosched/slurm/simulate/afterwards.hpp"

#include <map>
#include <set>

namespace cosched::slurm {

void keep_pauses_of_work(const Scenario& scenario, const Clocks& clocks, Outcome& outcome) {
  if (outcome.pauses.empty()) return;
  std::vector<Pause> kept;
  std::vector<double> done = outcome.start_exact;
  for (std::size_t j = 0; j < done.size(); ++j) {
    const bool told = j < clocks.lengths.size() && !std::isnan(clocks.lengths[j]);
    done[j] += told ? clocks.lengths[j] : scenario.job(static_cast<int>(j)).runtime;
  }
  for (const Pause& pause : outcome.pauses) {  // by their begin
    if (pause.from >= done[pause.job]) continue;
    if (!std::isnan(pause.until)) {
      done[pause.job] += pause.until - pause.from;
      kept.push_back(pause);
    } else if (outcome.killed[pause.job]) {
      outcome.end_exact[pause.job] = pause.from;
      outcome.end[pause.job] = std::floor(pause.from);
    }
  }
  outcome.pauses = std::move(kept);
}

void bar_those_behind(const Scenario& scenario, Outcome& outcome) {
  std::map<int, std::string> why(outcome.barred.begin(), outcome.barred.end()), of_array;
  std::set<int> names;
  for (std::size_t known = 0; known < why.size();) {
    known = why.size();
    for (const auto& [job, reason] : why) {
      const Conditions& own = scenario.job(job).conditions;
      names.insert(std::max(own.singleton, own.namesake));
      of_array.emplace(scenario.array(job), reason);
    }
    names.erase(-1);
    of_array.erase(-1);
    for (int job = 0; job < static_cast<int>(outcome.start.size()); ++job) {
      if (!std::isnan(outcome.start[job]) || why.count(job)) continue;
      const Conditions& own = scenario.job(job).conditions;
      bool waits = names.count(own.singleton) > 0;
      for (const Dependency& dependency : own.after)
        for (const int before : dependency.jobs) waits |= why.count(before) > 0;
      if (const auto found = of_array.find(scenario.array(job)); found != of_array.end())
        why.emplace(job, found->second);
      else if (waits)
        why.emplace(job, "Dependency");
    }
  }
  outcome.barred.assign(why.begin(), why.end());
}

}  // namespace cosched::slurm
