#include "cosched/slurm/queue/usage.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"
#include "cosched/slurm/accounts/fair_tree.hpp"
#include "cosched/slurm/queue/priority.hpp"

namespace cosched::slurm {

namespace {

// The first pass was when the thread began, and what came of it.
bool knows_factors(const Scenario& scenario) {
  const std::vector<Association>& all = scenario.accounts();
  return std::any_of(all.begin(), all.end(),
                     [](const Association& one) { return one.factor >= 0; });
}

}  // namespace

Usage::Usage(const Scenario& scenario, double decay_start)
    : scenario_(scenario),
      decay_(scenario.settings().priority, decay_start, knows_factors(scenario)),
      used_(scenario.accounts().size()) {
  for (std::size_t k = 0; k < used_.size(); ++k) used_[k] = scenario.accounts()[k].usage;
  factor_ = fair_tree(scenario.accounts(), used_);
  for (std::size_t k = 0; k < factor_.size(); ++k)
    if (const double known = scenario.accounts()[k].factor; known >= 0) factor_[k] = known;
}

bool Usage::runs(const Scenario& scenario) {
  return !scenario.accounts().empty() || priorities_age(scenario.settings().priority);
}

double Usage::next_pass() const { return runs(scenario_) ? decay_.next() : kInfinity; }

bool Usage::advance(double time) {
  return runs(scenario_) && decay_.advance(time, [&](Second now, double left) { pass(now, left); });
}

void Usage::pass(Second now, double left) {
  for (double& used : used_) used *= left;
  for (const Running& one : running_) charge(one, now);
  if (used_.empty()) return;
  factor_ = fair_tree(scenario_.accounts(), used_);
}

// Its association and those above it.
void Usage::charge(const Running& one, Second now) {
  const Second ran = now - std::max(decay_.last(), one.start);
  if (ran <= 0) return;
  const double amount = static_cast<double>(ran) * decay_.left_after(ran) * one.price;
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

}  // namespace cosched::slurm
