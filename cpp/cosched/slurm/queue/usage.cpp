#include "cosched/slurm/queue/usage.hpp"

#include "cosched/slurm/accounts/fair_tree.hpp"
#include "cosched/slurm/queue/priorities.hpp"

namespace cosched::slurm {
namespace {

// True where the scenario has the factors of the first pass of the decay thread.
bool has_initial_factors(const Scenario& scenario) {
  const std::vector<Association>& associations = scenario.accounts();
  return std::any_of(associations.begin(), associations.end(), [](const Association& association) {
    return association.initial_factor >= 0;
  });
}

}  // namespace

Usage::Usage(const Scenario& scenario, double decay_start)
    : scenario_(scenario),
      decay_(scenario.settings().priority, decay_start, has_initial_factors(scenario)),
      used_seconds_(scenario.accounts().size()) {
  const std::vector<Association>& associations = scenario.accounts();
  for (std::size_t k = 0; k < associations.size(); ++k)
    used_seconds_[k] = associations[k].initial_usage;
  factors_ = fair_tree(associations, used_seconds_);
  for (std::size_t k = 0; k < associations.size(); ++k)
    if (associations[k].initial_factor >= 0) factors_[k] = associations[k].initial_factor;
}

bool Usage::advance(double time) {
  if (!is_accounted(scenario_)) return false;
  return decay_.advance(
      time, [&](Second now, double remaining_fraction) { run_pass(now, remaining_fraction); });
}

bool Usage::is_accounted(const Scenario& scenario) {
  return !scenario.accounts().empty() || priorities_age(scenario.settings().priority);
}

double Usage::next_pass_time() const {
  return is_accounted(scenario_) ? decay_.next_pass_time() : kInfinity;
}

void Usage::start(int job, double usage_per_second, Second now) {
  if (!used_seconds_.empty()) charged_jobs_.push_back({job, usage_per_second, now});
}

void Usage::end(int job, Second now) {
  const auto charged =
      std::find_if(charged_jobs_.begin(), charged_jobs_.end(),
                   [&](const ChargedJob& candidate) { return candidate.job == job; });
  if (charged == charged_jobs_.end()) return;
  charge(*charged, now);
  charged_jobs_.erase(charged);
}

double Usage::factor_of(int job) const {
  const int association = scenario_.job(job).association;
  return association < 0 ? 0 : factors_[association];
}

void Usage::run_pass(Second now, double remaining_fraction) {
  for (double& seconds : used_seconds_) seconds *= remaining_fraction;
  for (const ChargedJob& charged : charged_jobs_) charge(charged, now);
  if (used_seconds_.empty()) return;
  factors_ = fair_tree(scenario_.accounts(), used_seconds_);
}

// Adds what the job has used since the last pass to its association and those above it.
void Usage::charge(const ChargedJob& charged, Second now) {
  const Second seconds = now - std::max(decay_.last_pass_time(), charged.start);
  if (seconds <= 0) return;
  const double amount =
      static_cast<double>(seconds) * decay_.remaining_fraction(seconds) * charged.usage_per_second;
  const std::vector<Association>& associations = scenario_.accounts();
  for (int k = scenario_.job(charged.job).association; k >= 0; k = associations[k].parent)
    used_seconds_[k] += amount;
}

}  // namespace cosched::slurm
