#include "cosched/slurm/select/allocations.hpp"

#include <tuple>

#include "cosched/core/found.hpp"

namespace cosched::slurm {

Allocations::Allocations(const Scenario& scenario)
    : scenario_(scenario),
      allocations_(scenario.jobs().size()),
      states_(scenario.jobs().size(), JobState::pending),
      up_nodes_(scenario.machine().nodes),
      busy_nodes_(scenario.machine().nodes),
      completing_nodes_(scenario.machine().nodes),
      free_resources_(scenario.machine()),
      core_map_(scenario) {
  up_nodes_.add_range(0, scenario.machine().nodes);
  if (scenario.machine().down_nodes.any()) up_nodes_ -= scenario.machine().down_nodes;
}

// --- what happens to jobs and nodes ---

void Allocations::add_to_list(int job) {
  const int array = scenario_.array_of(job);
  if (array >= 0 && list_place_of_array_.count(array) > 0) return;
  ++list_place_count_;
  if (array < 0)
    allocations_[job].list_place = list_place_count_;
  else
    list_place_of_array_[array] = list_place_count_;
}

void Allocations::start(int job, const NodeChoice& choice, Second now) {
  JobAllocation& allocation = allocations_[job];
  allocation.nodes = choice.nodes;
  allocation.start = now;
  allocation.last_switch = now;
  allocation.expected_end = now + scenario_.job(job).limit;
  if (const int array = scenario_.array_of(job); array >= 0) {
    allocation.list_place = list_place_of_array_[array];
    // The tasks that have not started go to the end of the list.
    ++list_place_count_;
    list_place_of_array_[array] = list_place_count_;
  }
  allocation.is_suspended = false;
  allocation.ran_before = 0;
  states_[job] = JobState::running;
  ++change_count_;
  if (scenario_.shares_nodes()) allocation.shares = choice.shares;
  if (scenario_.suspends_jobs()) {
    allocation.cores = choice.cores;
    allocation.partition = choice.partition;
  }
  allocate(job);
}

void Allocations::end(int job, Second now) {
  allocations_[job].end = now;
  states_[job] = JobState::completing;
  ++change_count_;
  release(job);
  completing_nodes_ |= allocations_[job].nodes;
  completing_jobs_.push_back(job);
}

void Allocations::complete_epilog(int job) {
  states_[job] = JobState::done;
  ++change_count_;
  erase_found(completing_jobs_, job, "a completing job");
  completing_nodes_ -= allocations_[job].nodes;
  if (scenario_.shares_nodes())  // other jobs may be completing on the same nodes
    for (const int other : completing_jobs_) completing_nodes_ |= allocations_[other].nodes;
}

void Allocations::suspend(int job, Second now) {
  ++change_count_;
  JobAllocation& allocation = allocations_[job];
  allocation.is_suspended = true;
  allocation.ran_before += now - allocation.last_switch;
  allocation.last_switch = now;
}

void Allocations::resume(int job, Second now) {
  ++change_count_;
  JobAllocation& allocation = allocations_[job];
  allocation.is_suspended = false;
  allocation.last_switch = now;
  erase_found(running_jobs_, job, "a running job");
  allocation.expected_end = now + scenario_.job(job).limit - allocation.ran_before;
  insert_running(job);
}

void Allocations::hide(int job) {
  ++hide_count_;
  release(job);
  // A suspended job keeps its memory and GPUs.
  if (scenario_.suspends_jobs()) free_resources_.allocate_except_cores(allocations_[job].shares);
}

void Allocations::unhide(int job) {
  ++hide_count_;
  if (scenario_.suspends_jobs()) free_resources_.release_except_cores(allocations_[job].shares);
  allocate(job);
}

void Allocations::set_nodes_up(const NodeBits& nodes, bool are_up) {
  ++change_count_;
  if (are_up)
    up_nodes_ |= nodes;
  else
    up_nodes_ -= nodes;
}

// --- jobs ---

bool Allocations::has_completing_since(Second since) const {
  return std::any_of(completing_jobs_.begin(), completing_jobs_.end(),
                     [&](int job) { return allocations_[job].end >= since; });
}

std::int64_t Allocations::list_place(int job) const {
  if (allocations_[job].list_place > 0) return allocations_[job].list_place;
  const auto array = list_place_of_array_.find(scenario_.array_of(job));
  return array == list_place_of_array_.end() ? 0 : array->second;
}

// --- resources ---

void Allocations::allocate(int job) {
  allocate_resources(allocations_[job]);
  insert_running(job);
}

void Allocations::release(int job) {
  release_resources(allocations_[job]);
  erase_found(running_jobs_, job, "a running job");
}

void Allocations::insert_running(int job) {
  const auto order = [&](int number) {
    const JobAllocation& allocation = allocations_[number];
    return std::tuple(allocation.expected_end, allocation.list_place, number);
  };
  const auto place = std::lower_bound(running_jobs_.begin(), running_jobs_.end(), job,
                                      [&](int a, int b) { return order(a) < order(b); });
  running_jobs_.insert(place, job);
}

void Allocations::allocate_resources(const JobAllocation& allocation) {
  if (!scenario_.shares_nodes()) {
    busy_nodes_ |= allocation.nodes;
    return;
  }
  free_resources_.allocate(allocation.shares);
  if (scenario_.suspends_jobs()) core_map_.allocate(allocation.partition, allocation.cores);
  update_nodes(allocation);
}

void Allocations::release_resources(const JobAllocation& allocation) {
  if (!scenario_.shares_nodes()) {
    busy_nodes_ -= allocation.nodes;
    return;
  }
  free_resources_.release(allocation.shares);
  if (scenario_.suspends_jobs()) core_map_.release(allocation.partition, allocation.cores);
  update_nodes(allocation);
}

// Sets the free cores and the busy mark of the nodes of the allocation.
void Allocations::update_nodes(const JobAllocation& allocation) {
  if (scenario_.suspends_jobs()) {
    // Several jobs may have a core: only those that no job has are free.
    const NodeBits allocated_cores = core_map_.allocated_cores();
    for (const Share& share : allocation.shares.nodes)
      free_resources_.set_cores(share.node,
                                core_map_.count_free_cores(share.node, allocated_cores));
  }
  for (const Share& share : allocation.shares.nodes)
    if (free_resources_.nodes_with_cores().has(share.node))
      busy_nodes_.remove(share.node);
    else
      busy_nodes_.add(share.node);
}

}  // namespace cosched::slurm
