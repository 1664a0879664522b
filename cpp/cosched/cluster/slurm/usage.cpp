#include "cosched/cluster/slurm/usage.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/cluster/slurm/fair_tree.hpp"

namespace cosched::cluster::slurm {

Usage::Usage(const Scenario& scenario, double decay_start)
    : scenario_(scenario),
      start_(decay_start),
      keep_(1),
      used_(scenario.accounts().size()),
      last_(whole(decay_start)) {
  for (std::size_t k = 0; k < used_.size(); ++k) used_[k] = scenario.accounts()[k].usage;
  factor_ = fair_tree(scenario.accounts(), used_);
  constexpr double kHalf = 0.693;  // as slurmctld has it, with the first term alone
  const Second half_life = scenario.settings().priority.half_life;
  if (half_life > 0) keep_ = 1 - kHalf / static_cast<double>(half_life);
}

void Usage::advance(double time) {
  if (used_.empty()) return;
  const auto period = static_cast<double>(scenario_.settings().priority.calc_period);
  for (;;) {
    const double next = start_ + static_cast<double>(passes_) * period;
    if (next > time) return;
    pass(whole(next));
  }
}

void Usage::pass(Second now) {
  const double left = std::pow(keep_, static_cast<double>(now - last_));
  for (double& used : used_) used *= left;
  for (const Running& one : running_) charge(one, now);
  last_ = now;
  ++passes_;
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
