#include "cosched/slurm/model/scenario.hpp"

#include <tuple>

#include "cosched/core/errors.hpp"

namespace cosched::slurm {
namespace {

// A job whose limit is beyond a partition's waits in the others alone.
void drop_short_partitions(Job& job, const Machine& machine) {
  auto& parts = job.partitions;
  if (parts.empty()) return;
  const auto too_short = [&](int part) {
    return job.limit < kNever &&
           machine.partitions.at(static_cast<std::size_t>(part)).max_time < job.limit;
  };
  if (!std::all_of(parts.begin(), parts.end(), too_short))
    parts.erase(std::remove_if(parts.begin(), parts.end(), too_short), parts.end());
  job.partition = parts.front();
}

// As a partition has the job; whether it takes it.
bool fit_into(Job& job, const Partition& part) {
  job.nodes = std::max(job.nodes, part.min_nodes);
  job.request.max_nodes = std::min(job.request.max_nodes, part.max_nodes);
  return job.nodes <= job.request.max_nodes;
}

std::vector<int> below_of(const std::vector<Partition>& parts, const Partition& own) {
  std::vector<int> below;
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (own.tier > parts[k].tier && own.nodes.intersects(parts[k].nodes))
      below.push_back(static_cast<int>(k));
  return below;
}

bool has_bounds(const Partition& part) { return part.min_nodes > 0 || part.max_nodes < kAnyNodes; }

// `least` is 0, or -1 where that means none.
void require(const char* what, int number, int least, std::size_t count) {
  if (number < least || number >= static_cast<int>(count))
    throw InvalidInstance(std::string("slurm: ") + what + " " + std::to_string(number) +
                          ": there are " + std::to_string(count));
}

void require_rows(const char* what, std::size_t rows, int nodes, bool may_lack = true) {
  if (rows != static_cast<std::size_t>(nodes) && (rows > 0 || !may_lack))
    throw InvalidInstance(std::string("slurm: ") + what + " of " + std::to_string(rows) +
                          " nodes: expected " + std::to_string(nodes));
}

void require_machine(const Machine& machine) {
  if (machine.partitions.empty()) throw InvalidInstance("slurm: a machine without partitions");
  require_rows("cores", machine.node_cores.size(), machine.nodes);
  require_rows("memory", machine.node_memory.size(), machine.nodes);
  require_rows("weights", machine.node_weight.size(), machine.nodes);
  for (const auto& gpus : machine.node_gpus)
    require_rows("GPUs", gpus.size(), machine.nodes, false);
  for (const Partition& part : machine.partitions)
    require("QOS of a partition", part.qos, -1, machine.qos.size());
  for (const Qos& qos : machine.qos)
    for (const int other : qos.preempts) require("QOS to preempt", other, 0, machine.qos.size());
}

void require_running(const RunningState& running, const Machine& machine) {
  int last = -1;
  for (const Share& share : running.shares.nodes) {
    if (share.node <= last || share.node >= machine.nodes || share.cores < 0)
      throw InvalidInstance("slurm: a running job: expected increasing nodes of the machine");
    last = share.node;
  }
  for (const GpuShare& share : running.shares.gpus)
    if (share.node < 0 || share.node >= machine.nodes || share.type < 0 ||
        share.type >= static_cast<int>(machine.node_gpus.size()))
      throw InvalidInstance("slurm: a running job: GPUs that the machine does not have");
}

void require_job(const Job& job, const Scenario& scenario) {
  const Machine& machine = scenario.machine();
  const std::size_t jobs = scenario.jobs().size();
  require("partition", job.partition, 0, machine.partitions.size());
  for (const int part : job.partitions) require("partition", part, 0, machine.partitions.size());
  require("set of nodes", job.node_set, -1, machine.node_sets.size());
  for (const int set : job.alternative_sets)
    require("set of nodes", set, 0, machine.node_sets.size());
  require("association", job.association, -1, scenario.accounts().size());
  require("QOS", job.qos, -1, machine.qos.size());
  require("type of GPUs", job.request.gpu_type, -1, machine.node_gpus.size());
  const Conditions& conditions = job.conditions;
  require("reservation", conditions.reservation, -1, scenario.reservations().size());
  for (const auto& [which, count] : conditions.licences)
    require("licence", which, 0, machine.licences.size());
  for (const Dependency& one : conditions.dependencies)
    for (const int other : one.jobs) require("job to wait for", other, 0, jobs);
  if (job.running_state) require_running(*job.running_state, machine);
}

}  // namespace

Scenario::Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings,
                   std::vector<Reservation> reservations, std::vector<AdminEvent> outside,
                   std::vector<Association> accounts)
    : machine_(std::move(machine)),
      jobs_(std::move(jobs)),
      settings_(settings),
      reservations_(std::move(reservations)),
      admin_events_(std::move(outside)),
      accounts_(std::move(accounts)) {
  require_references(*this);
  for (const Partition& own : machine_.partitions)
    lower_partitions_.push_back(below_of(machine_.partitions, own));
  std::stable_sort(admin_events_.begin(), admin_events_.end(),
                   [](const AdminEvent& a, const AdminEvent& b) { return a.time < b.time; });
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    Job& one = jobs_[j];
    drop_short_partitions(one, machine_);
    const Partition& partition = machine_.partitions.at(static_cast<std::size_t>(one.partition));
    one.limit = std::min(one.limit, partition.max_time);
    one.is_unlimited = one.limit >= kNever;
    if (one.limit >= kNever) one.limit = kYear;
    if (partition.nodes.count() < one.nodes)
      throw InfeasibleError("job " + std::to_string(j) + " wants " + std::to_string(one.nodes) +
                            " nodes: its partition has fewer");
    if (std::any_of(machine_.partitions.begin(), machine_.partitions.end(), has_bounds))
      apply_partition_bounds(static_cast<int>(j));
  }
  number_shapes();
  for (const Job& job : jobs_) array_by_job_.push_back(job.conditions.array);
}

void Scenario::number_shapes() {
  const bool cores = shares_nodes();
  const auto wants = [cores](const Job& job) {
    const ResourceRequest& ask = job.request;
    return std::tuple(job.nodes, cores ? job.cpus : 0, ask.max_nodes, ask.tasks, ask.task_cores,
                      ask.is_exclusive, ask.memory, ask.is_memory_by_core, ask.wants_all_memory,
                      ask.gpus, ask.are_gpus_by_node, ask.gpu_type);
  };
  const auto plans = [this](const Job& job) {
    const bool no_reserve = job.qos >= 0 && machine_.qos[job.qos].no_reserve;
    return std::tuple(job.shape, job.limit, job.node_set, job.alternative_sets,
                      job.conditions.reservation, no_reserve);
  };
  std::map<decltype(wants(Job())), int> shapes;
  std::map<decltype(plans(Job())), int> kinds;
  const auto number = [&](Job& job) {
    job.shape = shapes.emplace(wants(job), static_cast<int>(shapes.size())).first->second;
    job.kind = kinds.emplace(plans(job), static_cast<int>(kinds.size())).first->second;
  };
  for (Job& job : jobs_) number(job);
  for (auto& [entry, job] : bounded_jobs_) number(job);
  kind_count_ = kinds.size();
}

Scenario Scenario::with_arrivals(int kept, const std::vector<std::pair<int, double>>& more) const {
  Scenario made = *this;
  made.jobs_.resize(static_cast<std::size_t>(kept));
  made.array_by_job_.resize(static_cast<std::size_t>(kept));
  made.bounded_jobs_.erase(made.bounded_jobs_.lower_bound({kept, 0}), made.bounded_jobs_.end());
  made.jobs_.reserve(made.jobs_.size() + more.size());
  for (const auto& [like, submit] : more) {
    const int number = static_cast<int>(made.jobs_.size());
    made.jobs_.push_back(job(like));
    made.jobs_.back().submit = submit;
    made.array_by_job_.push_back(array_of(like));
    for (auto own = bounded_jobs_.lower_bound({like, 0});
         own != bounded_jobs_.end() && own->first.first == like; ++own) {
      Job& mine = made.bounded_jobs_.emplace(std::pair(number, own->first.second), own->second)
                      .first->second;
      mine.submit = submit;
    }
  }
  return made;
}

void Scenario::apply_partition_bounds(int number) {
  Job& one = jobs_[number];
  const auto out = [&](int part) {
    Job mine = one;
    const bool any = one.qos >= 0 && machine_.qos[one.qos].ignores_partition_nodes;
    const bool taken =
        any || fit_into(mine, machine_.partitions.at(static_cast<std::size_t>(part)));
    if (taken && (mine.nodes != one.nodes || mine.request.max_nodes != one.request.max_nodes))
      bounded_jobs_.emplace(std::pair(number, part), std::move(mine));
    return !taken;
  };
  auto& parts = one.partitions;
  const bool several = !parts.empty();
  parts.erase(std::remove_if(parts.begin(), parts.end(), out), parts.end());
  if (several ? parts.empty() : out(one.partition))
    throw InfeasibleError(
        "job " + std::to_string(number) + " wants " + std::to_string(one.nodes) +
        " nodes: its partition lets no job have them (MinNodes, MaxNodes, State)");
  if (several) one.partition = parts.front();
}

void require_references(const Scenario& scenario) {
  require_machine(scenario.machine());
  for (const Job& job : scenario.jobs()) require_job(job, scenario);
  for (const AdminEvent& one : scenario.admin_events())
    require("job of an administrator", one.job, -1, scenario.jobs().size());
  int number = 0;
  for (const Association& one : scenario.accounts()) {
    if (number == 0 ? one.parent != -1 : one.parent < 0 || one.parent >= number)
      throw InvalidInstance("slurm: association " + std::to_string(number) + " below " +
                            std::to_string(one.parent) +
                            ": expected the root first, and each account before what is in it");
    ++number;
  }
}

}  // namespace cosched::slurm
