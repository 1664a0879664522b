#include "cosched/cluster/slurm/usage.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/cluster/slurm/fair_tree.hpp"
#include "cosched/cluster/slurm/priority.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::slurm {

Usage::Usage(const Scenario& scenario, double decay_start)
    : scenario_(scenario),
      start_(decay_start),
      keep_(1),
      used_(scenario.accounts().size()),
      last_(whole(decay_start)) {
  for (std::size_t k = 0; k < used_.size(); ++k) used_[k] = scenario.accounts()[k].usage;
  factor_ = fair_tree(scenario.accounts(), used_);
  // A pass was when the thread began, and what came of it is known.
  for (std::size_t k = 0; k < factor_.size(); ++k) {
    const double known = scenario.accounts()[k].factor;
    if (known < 0) continue;
    factor_[k] = known;
    passes_ = 1;
  }
  constexpr double kHalf = 0.693;  // as slurmctld has it, with the first term alone
  const Second half_life = scenario.settings().priority.half_life;
  if (half_life > 0) keep_ = 1 - kHalf / static_cast<double>(half_life);
}

bool Usage::runs(const Scenario& scenario) {
  return !scenario.accounts().empty() || priorities_age(scenario.settings().priority);
}

double Usage::next_pass() const {
  if (!runs(scenario_)) return kInfinity;
  return start_ + static_cast<double>(passes_ * scenario_.settings().priority.calc_period);
}

bool Usage::advance(double time) {
  const std::int64_t before = passes_;
  while (next_pass() <= time) pass(whole(next_pass()));
  return passes_ > before;
}

void Usage::pass(Second now) {
  const double left = std::pow(keep_, static_cast<double>(now - last_));
  for (double& used : used_) used *= left;
  for (const Running& one : running_) charge(one, now);
  last_ = now;
  ++passes_;
  if (used_.empty()) return;
  factor_ = fair_tree(scenario_.accounts(), used_);
}

// Its association and those above it.
void Usage::charge(const Running& one, Second now) {
  const auto ran = static_cast<double>(now - std::max(last_, one.start));
  if (ran <= 0) return;
  const double amount = ran * std::pow(keep_, ran) * one.price;
  for (int k = scenario_.job(one.job).association; k >= 0;
       k = scenario_.accounts()[static_cast<std::size_t>(k)].parent)
    used_[static_cast<std::size_t>(k)] += amount;
}

void Usage::start(int job, double price, Second now) {
  if (!used_.empty()) running_.push_back({job, price, now});
}

void Usage::end(int job, Second now) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Running& one) { return one.job == job; });
  if (found == running_.end()) return;
  charge(*found, now);
  running_.erase(found);
}

double Usage::factor(int job) const {
  const int association = scenario_.job(job).association;
  return association < 0 ? 0 : factor_[static_cast<std::size_t>(association)];
}

}  // namespace cosched::cluster::slurm
