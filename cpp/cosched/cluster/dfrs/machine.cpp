#include "cosched/cluster/dfrs/machine.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {
namespace {

std::vector<IdleQueue::Shape> shapes_of(const Instance& instance) {
  const Jobs& jobs = instance.jobs();
  std::vector<IdleQueue::Shape> shapes;
  shapes.reserve(instance.size());
  for (const int j : instance.order())
    shapes.push_back({memory_units(jobs.memory[j]), jobs.tasks[j], jobs.memory[j]});
  return shapes;
}

}  // namespace

Machine::Machine(const Instance& instance) : nodes_(instance.nodes()), idle_(shapes_of(instance)) {
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

void Machine::hold(int rank, NodeList&& nodes) {
  Job& job = jobs_[rank];
  job.nodes = std::move(nodes);
  for (const int node : job.nodes) {
    nodes_[node].memory_used += job.memory_need;
    nodes_[node].cpu_load += job.cpu_need;
  }
}

NodeList Machine::release(int rank) {
  Job& job = jobs_[rank];
  for (const int node : job.nodes) {
    nodes_[node].memory_used -= job.memory_need;
    nodes_[node].cpu_load -= job.cpu_need;
  }
  return std::exchange(job.nodes, {});
}

void Machine::note_change(int rank, NodeList&& held, Reason reason, int other, double value) {
  Job& job = jobs_[rank];
  if (job.change < 0) {
    job.change = static_cast<int>(changes_.size());
    changes_.push_back({rank, job.status, std::move(held), reason, other, value});
  }
  Change& change = changes_[job.change];
  change.reason = reason;
  change.other = other;
  change.value = value;
}

const std::vector<Machine::Change>& Machine::take_changes() {
  for (const Change& change : changes_) jobs_[change.rank].change = -1;
  taken_.clear();
  taken_.swap(changes_);
  return taken_;
}

void Machine::add_running(int rank) {
  running_.insert(std::lower_bound(running_.begin(), running_.end(), rank), rank);
}

void Machine::remove_running(int rank) {
  running_.erase(std::lower_bound(running_.begin(), running_.end(), rank));
}

void Machine::add_idle(int rank) {
  const Job& job = jobs_[rank];
  idle_.add(rank, job.submit, job.virtual_time);
}

void Machine::remove_idle(int rank) { idle_.remove(rank); }

void Machine::start(int rank, NodeList nodes, Reason reason, int other, double value) {
  note_change(rank, {}, reason, other, value);
  hold(rank, std::move(nodes));
  jobs_[rank].status = Status::running;
  remove_idle(rank);
  add_running(rank);
}

void Machine::pause(int rank, Reason reason, int other, double value) {
  note_change(rank, release(rank), reason, other, value);
  jobs_[rank].status = Status::paused;
  jobs_[rank].yield = 0;
  remove_running(rank);
  add_idle(rank);
}

void Machine::move(int rank, NodeList nodes, Reason reason, int other, double value) {
  note_change(rank, release(rank), reason, other, value);
  hold(rank, std::move(nodes));
}

void Machine::explain_wait(int rank, Reason reason, int other, double value) {
  note_change(rank, {}, reason, other, value);
}

bool Machine::advance(double time) {
  bool progress = false;
  for (const int rank : running_) {
    Job& job = jobs_[rank];
    const double from = std::max(now_, job.penalty_until);
    if (time <= from) continue;
    job.virtual_time += job.yield * (time - from);
    progress = progress || job.yield > 0;
  }
  now_ = time;
  return progress;
}

void Machine::submit(int rank) {
  jobs_[rank].status = Status::waiting;
  add_idle(rank);
}

void Machine::finish(int rank) {
  release(rank);
  Job& job = jobs_[rank];
  job.virtual_time = job.runtime;
  job.status = Status::finished;
  job.yield = 0;
  remove_running(rank);
}

}  // namespace cosched::cluster::dfrs
