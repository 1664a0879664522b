#include "cosched/slurm/queue/priority.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/numeric.hpp"
#include "cosched/slurm/accounts/fair_tree.hpp"
#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {
namespace {

constexpr double kTopPriority = 0xffff0000u;

double size_factor(const Settings::Priority& settings, const Machine& machine, const Job& job,
                   bool tested) {
  const double nodes = machine.nodes, cpus = machine.cpus;
  const double all = tested && machine.node_cores.empty() ? job.nodes * cpus / nodes : 0;
  double size = (job.nodes / nodes + std::max<double>(job.cpus, all) / cpus) / 2;
  if (settings.relative_to_time) {
    // Slurm keeps limits in whole minutes.
    const Second minutes = std::max<Second>(1, job.limit / 60);
    size = std::max(job.nodes * cpus / nodes, static_cast<double>(job.cpus)) /
           static_cast<double>(minutes) / cpus;
  }
  return settings.favor_small ? 1 - size : size;
}

// PriorityWeightTRES: what it asks for, over all of its partition.
double of_tres(const Scenario& scenario, Entry entry, const Amounts& all) {
  const Amounts& weights = scenario.machine().priority_tres;
  const Amounts wanted = request_of(scenario, entry, scenario.job(entry).nodes).tres;
  double sum = 0;
  for (std::size_t k = 0; k < std::min(weights.size(), all.size()); ++k)
    if (all[k] > 0) sum += weights[k] * wanted[k] / all[k];
  return sum;
}

// The first pass was when the thread began, and what came of it.
bool knows_factors(const Scenario& scenario) {
  const std::vector<Association>& all = scenario.accounts();
  return std::any_of(all.begin(), all.end(),
                     [](const Association& one) { return one.factor >= 0; });
}

}  // namespace

bool priorities_age(const Settings::Priority& settings) {
  return settings.multifactor && settings.age_counts && settings.weight_age > 0;
}

Priorities::Priorities(const Scenario& scenario) : scenario_(scenario) {
  if (scenario.machine().priority_tres.empty()) return;
  std::vector<Amounts> of_part;
  for (const Partition& part : scenario.machine().parts)
    of_part.push_back(amounts_of(scenario, part.nodes));
  for (std::size_t job = 0; job < scenario.jobs().size(); ++job) {
    const Entry entry{static_cast<int>(job), scenario.jobs()[job].partition};
    tres_.push_back(of_tres(scenario, entry, of_part[static_cast<std::size_t>(entry.part)]));
  }
}

double Priorities::of(int job, double age, int before, double fair_share, bool tested) const {
  const Settings::Priority& settings = scenario_.settings().priority;
  const Job& one = scenario_.job(job);
  const double tres = tres_.empty() ? 0 : tres_[static_cast<std::size_t>(job)];
  if (one.priority >= 0) return one.priority;
  if (!settings.multifactor) return kTopPriority - before;
  double sum = settings.weight_size * size_factor(settings, scenario_.machine(), one, tested) +
               settings.weight_partition * scenario_.part(job).job_factor +
               settings.weight_fair_share * fair_share + settings.weight_qos * one.qos_factor +
               tres - one.nice;
  if (priorities_age(settings))
    sum += settings.weight_age * std::min(1.0, std::max(0.0, age) / settings.max_age);
  return std::floor(std::max(1.0, sum));
}

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
