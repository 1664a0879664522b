#include "cosched/slurm/queue/readiness.hpp"

#include <algorithm>

namespace cosched::slurm {

Readiness::Readiness(const Scenario& scenario, const Allocations& allocations)
    : scenario_(scenario), allocations_(allocations), states_(scenario.jobs().size()) {
  int number = 0;
  for (const Job& job : scenario.jobs()) {
    const Conditions& conditions = job.conditions;
    of(number).held = conditions.held;
    of(number).begin = whole(conditions.begin);
    if (conditions.array >= static_cast<int>(array_running_.size()))
      array_running_.resize(static_cast<std::size_t>(conditions.array) + 1);
    if (const int name = std::max(conditions.singleton, conditions.namesake); name >= 0) {
      const auto group = static_cast<std::size_t>(name);
      if (group >= singletons_.size()) singletons_.resize(group + 1);
      singletons_[group].push_back(number);
    }
    ++number;
  }
}

bool Readiness::submit(int job, Second now) {
  of(job).submitted = true;
  of(job).free = independent(job);
  if (scenario_.job(job).conditions.none() || is_ready(job, now)) return true;
  waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), job), job);
  return false;
}

void Readiness::requeue(int job, Second begin) {
  of(job).begin = begin;
  waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), job), job);
}

std::vector<int> Readiness::not_held() const {
  std::vector<int> found;
  for (const int job : waiting_)
    if (!of(job).held) found.push_back(job);
  return found;
}

bool Readiness::is_ready(int job, Second now) const {
  const State& state = of(job);
  return !state.held && state.begin <= now && independent(job);
}

bool Readiness::independent(int job) const {
  const std::vector<Dependency>& after = scenario_.job(job).conditions.after;
  return std::all_of(after.begin(), after.end(), [&](const Dependency& one) { return met(one); }) &&
         alone(job);
}

// After a job whose node failed is after it has run again.
bool Readiness::met(const Dependency& dependency) const {
  const std::vector<int>& jobs = dependency.jobs;
  const auto all = [&](auto is) { return std::all_of(jobs.begin(), jobs.end(), is); };
  if (dependency.kind == Dependency::Kind::after)
    return all([&](int job) { return allocations_.started(job); });
  if (!all([&](int job) { return allocations_.cleaned(job); })) return false;
  const bool failed =
      std::any_of(jobs.begin(), jobs.end(), [&](int job) { return of(job).failed; });
  switch (dependency.kind) {
    case Dependency::Kind::after_ok:
      return !failed;
    case Dependency::Kind::after_not_ok:
      return failed;
    default:
      return true;
  }
}

// No other job of its name runs, and none that was submitted before it waits.
bool Readiness::alone(int job) const {
  const int group = scenario_.job(job).conditions.singleton;
  if (group < 0) return true;
  const std::vector<int>& jobs = singletons_[static_cast<std::size_t>(group)];
  return std::none_of(jobs.begin(), jobs.end(), [&](int other) {
    if (other == job || allocations_.cleaned(other)) return false;
    return allocations_.started(other) || (other < job && of(other).submitted);
  });
}

bool Readiness::array_full(int job) const {
  const Conditions& conditions = scenario_.job(job).conditions;
  return conditions.array >= 0 && conditions.array_limit > 0 &&
         array_running(job) >= conditions.array_limit;
}

int Readiness::array_running(int job) const {
  return array_running_[static_cast<std::size_t>(scenario_.job(job).conditions.array)];
}

void Readiness::count(int job, int tasks) {
  const int array = scenario_.job(job).conditions.array;
  if (array >= 0) array_running_[static_cast<std::size_t>(array)] += tasks;
}

}  // namespace cosched::slurm
