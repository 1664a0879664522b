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
double of_tres(const Scenario& scenario, Entry entry, const Amounts& all) {
  const Amounts& weights = scenario.machine().priority_tres;
  const Amounts wanted = request_of(scenario, entry, scenario.job(entry).nodes).tres;
  double sum = 0;
  for (std::size_t k = 0; k < std::min(weights.size(), all.size()); ++k)
    if (all[k] > 0) sum += weights[k] * wanted[k] / all[k];
  return sum;
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

}  // namespace cosched::slurm
