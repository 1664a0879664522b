#include "cosched/slurm/simulate/outcome_fixes.hpp"

#include <map>
#include <set>

namespace cosched::slurm {

void trim_pauses_after_completion(const Scenario& scenario, const Clocks& clocks,
                                  Outcome& outcome) {
  if (outcome.pauses.empty()) return;
  std::vector<double> completion_times = outcome.start_exact;
  for (std::size_t j = 0; j < completion_times.size(); ++j) {
    const bool is_recorded = j < clocks.run_lengths.size() && !std::isnan(clocks.run_lengths[j]);
    completion_times[j] +=
        is_recorded ? clocks.run_lengths[j] : scenario.job(static_cast<int>(j)).runtime;
  }
  std::vector<Pause> pauses_of_work;
  for (const Pause& pause : outcome.pauses) {  // by their begin
    if (pause.begin >= completion_times[pause.job]) continue;
    if (!std::isnan(pause.end)) {
      completion_times[pause.job] += pause.end - pause.begin;
      pauses_of_work.push_back(pause);
    } else if (outcome.is_killed[pause.job]) {
      outcome.end_exact[pause.job] = pause.begin;
      outcome.end[pause.job] = std::floor(pause.begin);
    }
  }
  outcome.pauses = std::move(pauses_of_work);
}

namespace {

// Jobs that never start, and why.
class BlockedJobs {
 public:
  BlockedJobs(const Scenario& scenario, const Outcome& outcome)
      : scenario_(scenario),
        outcome_(outcome),
        reasons_(outcome.blocked_by_limit.begin(), outcome.blocked_by_limit.end()) {}

  const std::map<int, std::string>& reasons() const { return reasons_; }
  /// Adds jobs that wait for blocked ones until there are no more.
  void propagate() {
    std::size_t count_before = 0;
    while (count_before < reasons_.size()) {
      count_before = reasons_.size();
      collect_groups();
      for (int job = 0; job < static_cast<int>(outcome_.start.size()); ++job)
        if (std::isnan(outcome_.start[job]) && reasons_.count(job) == 0) add_if_blocked(job);
    }
  }

 private:
  void collect_groups() {
    for (const auto& [job, reason] : reasons_) {
      const Conditions& conditions = scenario_.job(job).conditions;
      names_.insert(std::max(conditions.singleton, conditions.singleton_name));
      reason_of_array_.emplace(scenario_.array_of(job), reason);
    }
    names_.erase(-1);
    reason_of_array_.erase(-1);
  }

  void add_if_blocked(int job) {
    const auto array_reason = reason_of_array_.find(scenario_.array_of(job));
    if (array_reason != reason_of_array_.end())
      reasons_.emplace(job, array_reason->second);
    else if (depends_on_blocked_job(job))
      reasons_.emplace(job, "Dependency");
  }

  bool depends_on_blocked_job(int job) const {
    const Conditions& conditions = scenario_.job(job).conditions;
    if (names_.count(conditions.singleton) > 0) return true;
    for (const Dependency& dependency : conditions.dependencies)
      for (const int other : dependency.jobs)
        if (reasons_.count(other) > 0) return true;
    return false;
  }

  const Scenario& scenario_;
  const Outcome& outcome_;
  std::map<int, std::string> reasons_;          // by blocked job
  std::map<int, std::string> reason_of_array_;  // by array with a blocked task
  std::set<int> names_;                         // of blocked jobs, for --dependency=singleton
};

}  // namespace

void propagate_blocks(const Scenario& scenario, Outcome& outcome) {
  BlockedJobs blocked_jobs(scenario, outcome);
  blocked_jobs.propagate();
  const std::map<int, std::string>& reasons = blocked_jobs.reasons();
  outcome.blocked_by_limit.assign(reasons.begin(), reasons.end());
}

}  // namespace cosched::slurm
