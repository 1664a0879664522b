#include "cosched/slurm/queue/priorities.hpp"

#include "cosched/slurm/limits/demand.hpp"

namespace cosched::slurm {
namespace {

// The priority of the first job of priority/basic.
constexpr double kTopPriority = 0xffff0000u;

// PriorityWeightJobSize: the job size factor, 0..1.
double size_factor(const Settings::Priority& settings, const Machine& machine, const Job& job,
                   bool is_tested) {
  const double nodes = machine.nodes, cpus = machine.cpus;
  const bool counts_whole_nodes = is_tested && machine.node_cores.empty();
  const double node_cpus = counts_whole_nodes ? job.nodes * cpus / nodes : 0;
  double size = (job.nodes / nodes + std::max<double>(job.cpus, node_cpus) / cpus) / 2;
  if (settings.relative_to_time) {
    // Slurm keeps limits in whole minutes.
    const Second minutes = std::max<Second>(1, job.limit / 60);
    size = std::max(job.nodes * cpus / nodes, static_cast<double>(job.cpus)) /
           static_cast<double>(minutes) / cpus;
  }
  return settings.favor_small ? 1 - size : size;
}

// PriorityWeightTRES: the sum of weight times requested TRES over all of them in the partition.
double tres_term(const Scenario& scenario, QueueEntry entry, const Amounts& partition_tres) {
  const Amounts& weights = scenario.machine().priority_tres;
  const Amounts requested = requested_demand(scenario, entry, scenario.job(entry).nodes).tres;
  double sum = 0;
  for (std::size_t tres = 0; tres < std::min(weights.size(), partition_tres.size()); ++tres)
    if (partition_tres[tres] > 0) sum += weights[tres] * requested[tres] / partition_tres[tres];
  return sum;
}

}  // namespace

Priorities::Priorities(const Scenario& scenario) : scenario_(scenario) {
  if (scenario.machine().priority_tres.empty()) return;
  std::vector<Amounts> tres_by_partition;
  for (const Partition& partition : scenario.machine().partitions)
    tres_by_partition.push_back(tres_of_nodes(scenario, partition.nodes));
  for (std::size_t job = 0; job < scenario.jobs().size(); ++job) {
    const QueueEntry entry{static_cast<int>(job), scenario.jobs()[job].partition};
    tres_terms_.push_back(tres_term(scenario, entry, tres_by_partition[entry.partition]));
  }
}

double Priorities::priority_of(int job_number, const PriorityFactors& factors) const {
  const Settings::Priority& settings = scenario_.settings().priority;
  const Job& job = scenario_.job(job_number);
  if (job.priority >= 0) return job.priority;
  if (!settings.multifactor) return kTopPriority - factors.jobs_submitted_before;
  const double size = size_factor(settings, scenario_.machine(), job, factors.is_tested);
  const double tres = tres_terms_.empty() ? 0 : tres_terms_[job_number];
  double sum = settings.weight_size * size +
               settings.weight_partition * scenario_.partition(job_number).job_factor +
               settings.weight_fair_share * factors.fair_share +
               settings.weight_qos * job.qos_factor + tres - job.nice;
  if (priorities_age(settings))
    sum += settings.weight_age * std::min(1.0, std::max(0.0, factors.age) / settings.max_age);
  return std::floor(std::max(1.0, sum));
}

}  // namespace cosched::slurm
