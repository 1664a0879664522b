#include "cosched/slurm/queue/readiness.hpp"

namespace cosched::slurm {

Readiness::Readiness(const Scenario& scenario, const Allocations& allocations)
    : scenario_(scenario), allocations_(allocations), states_(scenario.jobs().size()) {
  int number = 0;
  for (const Job& job : scenario.jobs()) {
    const Conditions& conditions = job.conditions;
    states_[number].is_held = conditions.is_held;
    states_[number].begin = to_second(conditions.begin);
    if (conditions.array >= static_cast<int>(array_running_.size()))
      array_running_.resize(static_cast<std::size_t>(conditions.array) + 1);
    if (const int name = std::max(conditions.singleton, conditions.singleton_name); name >= 0) {
      const auto group = static_cast<std::size_t>(name);
      if (group >= jobs_by_singleton_.size()) jobs_by_singleton_.resize(group + 1);
      jobs_by_singleton_[group].push_back(number);
    }
    ++number;
  }
}

bool Readiness::submit(int job, Second now) {
  states_[job].is_submitted = true;
  states_[job].was_independent = is_independent(job);
  if (scenario_.job(job).conditions.are_empty() || is_ready(job, now)) return true;
  insert_waiting(job);
  return false;
}

void Readiness::requeue(int job, Second begin) {
  states_[job].begin = begin;
  insert_waiting(job);
}

void Readiness::insert_waiting(int job) {
  waiting_jobs_.insert(std::lower_bound(waiting_jobs_.begin(), waiting_jobs_.end(), job), job);
}

std::vector<int> Readiness::unheld_jobs() const {
  std::vector<int> jobs;
  for (const int job : waiting_jobs_)
    if (!states_[job].is_held) jobs.push_back(job);
  return jobs;
}

bool Readiness::is_array_full(int job) const {
  if (scenario_.array_of(job) < 0) return false;
  const int limit = scenario_.job(job).conditions.array_limit;
  return limit > 0 && running_tasks(job) >= limit;
}

void Readiness::count_tasks(int job, int tasks) {
  const int array = scenario_.array_of(job);
  if (array >= 0) array_running_[array] += tasks;
}

bool Readiness::is_ready(int job, Second now) const {
  const JobReadiness& state = states_[job];
  return !state.is_held && state.begin <= now && is_independent(job);
}

// True when no other job keeps this one from being ready.
bool Readiness::is_independent(int job) const {
  const std::vector<Dependency>& dependencies = scenario_.job(job).conditions.dependencies;
  return std::all_of(dependencies.begin(), dependencies.end(),
                     [&](const Dependency& dependency) { return is_met(dependency); }) &&
         is_singleton_free(job);
}

// A job whose node failed ends, for those that depend on it, when it has run again.
bool Readiness::is_met(const Dependency& dependency) const {
  const std::vector<int>& jobs = dependency.jobs;
  if (dependency.kind == Dependency::Kind::after)
    return std::all_of(jobs.begin(), jobs.end(),
                       [&](int job) { return allocations_.has_started(job); });
  if (!std::all_of(jobs.begin(), jobs.end(), [&](int job) { return allocations_.is_done(job); }))
    return false;
  const bool failed =
      std::any_of(jobs.begin(), jobs.end(), [&](int job) { return states_[job].has_failed; });
  switch (dependency.kind) {
    case Dependency::Kind::after_ok:
      return !failed;
    case Dependency::Kind::after_not_ok:
      return failed;
    default:
      return true;
  }
}

// --dependency=singleton: true when no other job of the same name runs, and none that was submitted
// before it waits.
bool Readiness::is_singleton_free(int job) const {
  const int group = scenario_.job(job).conditions.singleton;
  if (group < 0) return true;
  const std::vector<int>& jobs = jobs_by_singleton_[group];
  return std::none_of(jobs.begin(), jobs.end(), [&](int other) {
    if (other == job || allocations_.is_done(other)) return false;
    return allocations_.has_started(other) || (other < job && states_[other].is_submitted);
  });
}

}  // namespace cosched::slurm
