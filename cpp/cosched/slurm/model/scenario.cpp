#include "cosched/slurm/model/scenario.hpp"

#include <tuple>

#include "cosched/core/errors.hpp"
#include "cosched/slurm/model/references.hpp"

namespace cosched::slurm {
namespace {

// A job whose limit is longer than MaxTime of a partition waits in its other partitions alone.
void remove_too_short_partitions(Job& job, const Machine& machine) {
  std::vector<int>& partitions = job.partitions;
  if (partitions.empty()) return;
  const auto is_too_short = [&](int partition) {
    return job.limit < kNever &&
           machine.partitions.at(static_cast<std::size_t>(partition)).max_time < job.limit;
  };
  if (!std::all_of(partitions.begin(), partitions.end(), is_too_short))
    partitions.erase(std::remove_if(partitions.begin(), partitions.end(), is_too_short),
                     partitions.end());
  job.partition = partitions.front();
}

// Cuts the node counts of the job to those that the partition allows; returns whether the job can
// run there.
bool fit_into(Job& job, const Partition& partition) {
  job.nodes = std::max(job.nodes, partition.min_nodes);
  job.request.max_nodes = std::min(job.request.max_nodes, partition.max_nodes);
  return job.nodes <= job.request.max_nodes;
}

// The partitions of lower tiers that share nodes with this one.
std::vector<int> lower_partitions_of(const Partition& partition, const Machine& machine) {
  std::vector<int> lower_partitions;
  for (std::size_t k = 0; k < machine.partitions.size(); ++k) {
    const Partition& other = machine.partitions[k];
    if (partition.tier > other.tier && partition.nodes.intersects(other.nodes))
      lower_partitions.push_back(static_cast<int>(k));
  }
  return lower_partitions;
}

bool has_node_bounds(const Partition& partition) {
  return partition.min_nodes > 0 || partition.max_nodes < kAnyNodes;
}

}  // namespace

Scenario::Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings,
                   std::vector<Reservation> reservations, std::vector<AdminEvent> admin_events,
                   std::vector<Association> accounts)
    : machine_(std::move(machine)),
      jobs_(std::move(jobs)),
      settings_(settings),
      reservations_(std::move(reservations)),
      admin_events_(std::move(admin_events)),
      accounts_(std::move(accounts)) {
  require_references(*this);
  const std::vector<Partition>& partitions = machine_.partitions;
  for (const Partition& partition : partitions)
    lower_partitions_.push_back(lower_partitions_of(partition, machine_));
  std::stable_sort(admin_events_.begin(), admin_events_.end(),
                   [](const AdminEvent& a, const AdminEvent& b) { return a.time < b.time; });
  const bool has_bounds = std::any_of(partitions.begin(), partitions.end(), has_node_bounds);
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    Job& job = jobs_[j];
    remove_too_short_partitions(job, machine_);
    const Partition& partition = partitions.at(static_cast<std::size_t>(job.partition));
    job.limit = std::min(job.limit, partition.max_time);
    job.is_unlimited = job.limit >= kNever;
    if (job.is_unlimited) job.limit = kYear;
    if (partition.nodes.count() < job.nodes)
      throw InfeasibleError("job " + std::to_string(j) + " wants " + std::to_string(job.nodes) +
                            " nodes: its partition has fewer");
    if (has_bounds) apply_partition_bounds(static_cast<int>(j));
  }
  number_shapes();
  for (const Job& job : jobs_) array_by_job_.push_back(job.conditions.array);
}

// Gives jobs that ask the same of nodes one shape, and those that also plan alike one kind.
void Scenario::number_shapes() {
  const bool is_by_cores = shares_nodes();
  const auto shape_key = [is_by_cores](const Job& job) {
    const ResourceRequest& request = job.request;
    return std::tuple(job.nodes, is_by_cores ? job.cpus : 0, request.max_nodes, request.tasks,
                      request.task_cores, request.is_exclusive, request.memory,
                      request.is_memory_by_core, request.wants_all_memory, request.gpus,
                      request.are_gpus_by_node, request.gpu_type);
  };
  const auto kind_key = [this](const Job& job) {
    const bool has_no_reserve = job.qos >= 0 && machine_.qos[job.qos].no_reserve;
    return std::tuple(job.shape, job.limit, job.node_set, job.alternative_sets,
                      job.conditions.reservation, has_no_reserve);
  };
  std::map<decltype(shape_key(Job())), int> shapes;
  std::map<decltype(kind_key(Job())), int> kinds;
  const auto number_job = [&](Job& job) {
    job.shape = shapes.emplace(shape_key(job), static_cast<int>(shapes.size())).first->second;
    job.kind = kinds.emplace(kind_key(job), static_cast<int>(kinds.size())).first->second;
  };
  for (Job& job : jobs_) number_job(job);
  for (auto& [entry, job] : bounded_jobs_) number_job(job);
  kind_count_ = kinds.size();
}

Scenario Scenario::with_arrivals(int job_count,
                                 const std::vector<std::pair<int, double>>& arrivals) const {
  Scenario scenario = *this;
  scenario.jobs_.resize(static_cast<std::size_t>(job_count));
  scenario.array_by_job_.resize(static_cast<std::size_t>(job_count));
  scenario.bounded_jobs_.erase(scenario.bounded_jobs_.lower_bound({job_count, 0}),
                               scenario.bounded_jobs_.end());
  scenario.jobs_.reserve(scenario.jobs_.size() + arrivals.size());
  for (const auto& [template_job, submit] : arrivals) {
    const int number = static_cast<int>(scenario.jobs_.size());
    scenario.jobs_.push_back(job(template_job));
    scenario.jobs_.back().submit = submit;
    scenario.array_by_job_.push_back(array_of(template_job));
    auto bounded_template = bounded_jobs_.lower_bound({template_job, 0});
    for (; bounded_template != bounded_jobs_.end(); ++bounded_template) {
      const auto& [template_number, partition] = bounded_template->first;
      if (template_number != template_job) break;
      Job bounded_job = bounded_template->second;
      bounded_job.submit = submit;
      scenario.bounded_jobs_.emplace(std::pair(number, partition), std::move(bounded_job));
    }
  }
  return scenario;
}

// Takes the job out of partitions that do not allow so many or so few nodes.
void Scenario::apply_partition_bounds(int number) {
  Job& job = jobs_[number];
  const bool ignores_bounds = job.qos >= 0 && machine_.qos[job.qos].ignores_partition_nodes;
  const auto is_refused_by = [&](int partition) {
    if (ignores_bounds) return false;
    Job bounded_job = job;
    if (!fit_into(bounded_job, machine_.partitions.at(static_cast<std::size_t>(partition))))
      return true;
    const bool is_changed =
        bounded_job.nodes != job.nodes || bounded_job.request.max_nodes != job.request.max_nodes;
    if (is_changed) bounded_jobs_.emplace(std::pair(number, partition), std::move(bounded_job));
    return false;
  };
  std::vector<int>& partitions = job.partitions;
  const bool has_partition_list = !partitions.empty();
  partitions.erase(std::remove_if(partitions.begin(), partitions.end(), is_refused_by),
                   partitions.end());
  const bool is_refused = has_partition_list ? partitions.empty() : is_refused_by(job.partition);
  if (is_refused)
    throw InfeasibleError(
        "job " + std::to_string(number) + " wants " + std::to_string(job.nodes) +
        " nodes: its partition lets no job have them (MinNodes, MaxNodes, State)");
  if (has_partition_list) job.partition = partitions.front();
}

}  // namespace cosched::slurm
