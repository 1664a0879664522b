#include "cosched/cluster/dfrs/dfrs_machine.hpp"

#include <algorithm>
#include <utility>

#include "cosched/cluster/model/units.hpp"
#include "cosched/core/assert.hpp"

namespace cosched::cluster::dfrs {
namespace {

std::vector<JobShape> job_shapes(const Instance& instance) {
  const Jobs& jobs = instance.jobs();
  std::vector<JobShape> shapes;
  shapes.reserve(instance.size());
  for (const int j : instance.order())
    shapes.push_back({.memory_need = memory_units(jobs.memory[j]),
                      .tasks = jobs.tasks[j],
                      .memory = jobs.memory[j]});
  return shapes;
}

}  // namespace

DfrsMachine::DfrsMachine(const Instance& instance)
    : nodes_(instance.nodes()), idle_(job_shapes(instance)) {
  const Jobs& jobs = instance.jobs();
  jobs_.reserve(instance.size());
  for (const int j : instance.order()) {
    Job job{};
    job.submit = jobs.submit[j];
    job.runtime = jobs.runtime[j];
    job.cpu = jobs.cpu[j];
    job.memory = jobs.memory[j];
    job.tasks = jobs.tasks[j];
    job.memory_need = memory_units(job.memory);
    job.cpu_need = cpu_units(job.cpu);
    jobs_.push_back(std::move(job));
  }
}

void DfrsMachine::start(int rank, NodeList nodes, Reason reason, int other_rank, double value) {
  record_change(rank, {}, reason, other_rank, value);
  occupy_nodes(rank, std::move(nodes));
  jobs_[rank].status = JobStatus::running;
  idle_.remove(rank);
  add_running(rank);
}

void DfrsMachine::pause(int rank, Reason reason, int other_rank, double value) {
  COSCHED_ASSERT(jobs_[rank].status == JobStatus::running);
  record_change(rank, release_nodes(rank), reason, other_rank, value);
  jobs_[rank].status = JobStatus::paused;
  jobs_[rank].yield = 0;
  remove_running(rank);
  add_idle(rank);
}

void DfrsMachine::move(int rank, NodeList nodes, Reason reason, int other_rank, double value) {
  COSCHED_ASSERT(jobs_[rank].status == JobStatus::running);
  record_change(rank, release_nodes(rank), reason, other_rank, value);
  occupy_nodes(rank, std::move(nodes));
}

bool DfrsMachine::advance(double time) {
  bool has_progress = false;
  for (const int rank : running_) {
    Job& job = jobs_[rank];
    const double progress_begin = std::max(now_, job.penalty_until);
    if (time <= progress_begin) continue;
    job.virtual_time += job.yield * (time - progress_begin);
    has_progress = has_progress || job.yield > 0;
  }
  now_ = time;
  return has_progress;
}

void DfrsMachine::submit(int rank) {
  jobs_[rank].status = JobStatus::waiting;
  add_idle(rank);
}

void DfrsMachine::finish(int rank) {
  release_nodes(rank);
  Job& job = jobs_[rank];
  job.virtual_time = job.runtime;
  job.status = JobStatus::finished;
  job.yield = 0;
  remove_running(rank);
}

const std::vector<DfrsMachine::Change>& DfrsMachine::take_changes() {
  for (const Change& change : changes_) jobs_[change.rank].change_index = -1;
  returned_changes_.clear();
  returned_changes_.swap(changes_);
  return returned_changes_;
}

void DfrsMachine::add_running(int rank) {
  running_.insert(std::lower_bound(running_.begin(), running_.end(), rank), rank);
}

void DfrsMachine::remove_running(int rank) {
  running_.erase(std::lower_bound(running_.begin(), running_.end(), rank));
}

void DfrsMachine::add_idle(int rank) {
  const Job& job = jobs_[rank];
  idle_.add(rank, job.submit, job.virtual_time);
}

void DfrsMachine::occupy_nodes(int rank, NodeList&& nodes) {
  Job& job = jobs_[rank];
  job.nodes = std::move(nodes);
  for (const int node : job.nodes) {
    nodes_[node].memory_used += job.memory_need;
    nodes_[node].cpu_load += job.cpu_need;
  }
}

NodeList DfrsMachine::release_nodes(int rank) {
  Job& job = jobs_[rank];
  for (const int node : job.nodes) {
    nodes_[node].memory_used -= job.memory_need;
    nodes_[node].cpu_load -= job.cpu_need;
  }
  return std::exchange(job.nodes, {});
}

void DfrsMachine::record_change(int rank, NodeList&& previous_nodes, Reason reason, int other_rank,
                                double value) {
  Job& job = jobs_[rank];
  if (job.change_index < 0) {
    job.change_index = static_cast<int>(changes_.size());
    changes_.push_back({.rank = rank,
                        .previous_status = job.status,
                        .previous_nodes = std::move(previous_nodes),
                        .reason = reason,
                        .other_rank = other_rank,
                        .value = value});
  }
  Change& change = changes_[job.change_index];
  change.reason = reason;
  change.other_rank = other_rank;
  change.value = value;
}

}  // namespace cosched::cluster::dfrs
