#include "cosched/slurm/queue/priority.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/slurm/limits/demand.hpp"

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
double of_tres(const Scenario& scenario, int job) {
  const Amounts& weights = scenario.machine().priority_tres;
  if (weights.empty()) return 0;
  const Entry entry{job, scenario.job(job).partition};
  const Amounts wanted = request_of(scenario, entry, scenario.job(entry).nodes).tres;
  const Amounts all = amounts_of(scenario, scenario.part(entry).nodes);
  double sum = 0;
  for (std::size_t k = 0; k < std::min(weights.size(), all.size()); ++k)
    if (all[k] > 0) sum += weights[k] * wanted[k] / all[k];
  return sum;
}

}  // namespace

bool priorities_age(const Settings::Priority& settings) {
  return settings.multifactor && settings.age_counts && settings.weight_age > 0;
}

double priority_of(const Scenario& scenario, int job, double age, int before, double fair_share,
                   bool tested) {
  const Settings::Priority& settings = scenario.settings().priority;
  const Job& one = scenario.job(job);
  if (one.priority >= 0) return one.priority;
  if (!settings.multifactor) return kTopPriority - before;
  double sum = settings.weight_size * size_factor(settings, scenario.machine(), one, tested) +
               settings.weight_partition * scenario.part(job).job_factor +
               settings.weight_fair_share * fair_share + settings.weight_qos * one.qos_factor +
               of_tres(scenario, job) - one.nice;
  if (priorities_age(settings))
    sum += settings.weight_age * std::min(1.0, std::max(0.0, age) / settings.max_age);
  return std::floor(std::max(1.0, sum));
}

}  // namespace cosched::slurm
