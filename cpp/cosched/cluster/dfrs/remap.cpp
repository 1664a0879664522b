#include "cosched/cluster/dfrs/remap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "cosched/cluster/dfrs/value_kinds.hpp"

namespace cosched::cluster::dfrs {
namespace {

// Jobs that are sorted instead of partitioned.
constexpr std::ptrdiff_t kMaxSortedJobs = 12;

// The memory of all nodes together is exceeded by more than rounding.
constexpr double kMemorySumLimit = 1 + kExactTolerance;

bool keeps_nodes(const DfrsMachine& machine, int rank, RemapLimit limit, double limit_seconds) {
  if (machine.job(rank).status != JobStatus::running) return false;
  switch (limit) {
    case RemapLimit::none:
      return false;
    case RemapLimit::virtual_time:
      return machine.job(rank).virtual_time < limit_seconds;
    case RemapLimit::flow_time:
      return machine.flow_time(rank) < limit_seconds;
  }
  return false;
}

// The minimum priority to look at in this attempt, where the jobs of priority >= `first_cut` are
// not enough: priorities in a long queue are nearly equal, so the steps are small at first.
double lower_cut(double first_cut, int attempt) {
  const double reduction = std::exp2(attempt - 14);
  return first_cut == kInfinity || reduction > 1 ? 0 : first_cut * (1 - reduction);
}

// Of all tasks.
double total_memory(const IdleQueue& idle, const PrioritisedJob& job) {
  const JobShape& shape = idle.shape(job.shape);
  return shape.memory * shape.tasks;
}

double median_of(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

using JobIterator = std::vector<PrioritisedJob>::iterator;

// Moves the jobs with a priority above the pivot to the front and returns their end.  A processor
// cannot predict which are higher: no branch depends on it.
JobIterator partition_above(JobIterator first, JobIterator last, double pivot) {
  JobIterator end_above = first;
  for (JobIterator job = first; job != last; ++job) {
    const PrioritisedJob moved_job = *job;
    *job = *end_above;
    *end_above = moved_job;
    end_above += moved_job.priority > pivot ? 1 : 0;
  }
  return end_above;
}

// Moves to the front the jobs that come first in the order of service, as many as fit into the
// memory, in no particular order; returns their end.  A quickselect by weights: O(jobs) expected.
JobIterator select_fitting_jobs(std::vector<PrioritisedJob>& jobs, const IdleQueue& idle,
                                double free_memory) {
  // It is not yet known whether the jobs in [first, last) fit; those before do.
  JobIterator first = jobs.begin();
  JobIterator last = jobs.end();
  while (last - first > kMaxSortedJobs) {
    const double pivot =
        median_of(first->priority, first[(last - first) / 2].priority, last[-1].priority);
    const JobIterator end_above = partition_above(first, last, pivot);
    double memory = 0;
    for (JobIterator job = first; job != end_above; ++job) memory += total_memory(idle, *job);
    if (memory > free_memory) {
      last = end_above;
    } else if (end_above == first) {  // several jobs have the greatest priority
      break;
    } else {
      free_memory -= memory;
      first = end_above;
    }
  }
  std::sort(first, last, ServedBefore());
  for (; first != last; ++first) {
    free_memory -= total_memory(idle, *first);
    if (free_memory < 0) break;
  }
  return first;
}

// The running and idle jobs of at least that priority, in no particular order.
std::vector<PrioritisedJob> jobs_of_priority(const DfrsMachine& machine, double min_priority) {
  const IdleQueue& idle = machine.idle();
  std::vector<PrioritisedJob> jobs;
  jobs.reserve(4 * machine.running().size());
  for (const int rank : machine.running()) {
    const double priority = machine.priority(rank);
    if (priority >= min_priority) jobs.push_back({priority, rank, idle.shape_of(rank)});
  }
  idle.append_jobs(machine.now(), min_priority, jobs);
  return jobs;
}

// Jobs of the system in no particular order.
struct ServedJobs {
  std::vector<PrioritisedJob> jobs;
  double priority_cut;  // for the next call
};

// The jobs in the system that come first in the order of service (decreasing priority, ties by
// submission), as many as fit in the memory of all nodes together.  Looks first at those of
// priority >= `priority_cut` only, which are enough where the jobs of the last call are still
// close.
ServedJobs select_served_jobs(const DfrsMachine& machine, double priority_cut) {
  const double memory = machine.node_count() * kMemorySumLimit;
  double min_priority = priority_cut;
  for (int attempt = 1;; ++attempt) {
    std::vector<PrioritisedJob> jobs = jobs_of_priority(machine, min_priority);
    const JobIterator end = select_fitting_jobs(jobs, machine.idle(), memory);
    if (end == jobs.end() && min_priority > 0) {
      min_priority = lower_cut(priority_cut, attempt);
      continue;
    }
    // At the next call the jobs that run now will have fallen back, and about as many as they are
    // now behind them will be ahead.
    const std::ptrdiff_t served_count = end - jobs.begin();
    double next_cut = min_priority;
    if (served_count < jobs.end() - end) {
      std::nth_element(end, end + served_count, jobs.end(), ServedBefore());
      next_cut = end[served_count].priority;
    }
    jobs.erase(end, jobs.end());
    for (const PrioritisedJob& job : jobs) machine.prefetch_job(job.rank);
    return {std::move(jobs), next_cut};
  }
}

struct RemapPlan {
  std::vector<int> ranks;       // increasing; those without nodes were dropped
  std::vector<NodeList> nodes;  // by position in `ranks`
  double target = 0;
};

// What find_best_target() works with.
struct PackingProblem {
  Mcb8 mcb8;
  Target target;
  double accuracy;
};

PackingProblem make_packing_problem(const DfrsMachine& machine, const std::vector<int>& ranks,
                                    std::optional<double> period) {
  std::vector<int> tasks;
  std::vector<double> memory;
  std::vector<double> cpu;
  std::vector<double> flow_time;
  std::vector<double> virtual_time;
  tasks.reserve(ranks.size());
  memory.reserve(ranks.size());
  cpu.reserve(ranks.size());
  for (const int rank : ranks) {
    const DfrsMachine::Job& job = machine.job(rank);
    tasks.push_back(job.tasks);
    memory.push_back(job.memory);
    cpu.push_back(job.cpu);
    if (period) flow_time.push_back(machine.flow_time(rank));
    if (period) virtual_time.push_back(job.virtual_time);
  }
  const int nodes = machine.node_count();
  if (period)
    return {Mcb8(tasks, std::move(memory), nodes),
            stretch_target(std::move(cpu), std::move(flow_time), std::move(virtual_time), *period),
            kStretchAccuracy};
  ValueKinds cpu_kinds = find_value_kinds(cpu);
  const std::size_t kind_count = cpu_kinds.values.size();
  return {
      Mcb8(std::move(tasks), std::move(memory), std::move(cpu_kinds.kind_of), kind_count, nodes),
      yield_target(std::move(cpu_kinds.values)), kYieldAccuracy};
}

// Drops the jobs that are served last, one by one, until MCB8 packs the others.
RemapPlan pack_jobs(const DfrsMachine& machine, std::vector<PrioritisedJob> jobs, RemapLimit limit,
                    double limit_seconds, std::optional<double> period) {
  std::make_heap(jobs.begin(), jobs.end(), ServedBefore());  // the first to be dropped on top
  std::vector<int> ranks;
  ranks.reserve(jobs.size());
  for (const PrioritisedJob& job : jobs) ranks.push_back(job.rank);
  std::sort(ranks.begin(), ranks.end());
  auto [mcb8, target, accuracy] = make_packing_problem(machine, ranks, period);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (keeps_nodes(machine, ranks[i], limit, limit_seconds))
      mcb8.pin(static_cast<int>(i), machine.job(ranks[i]).nodes);
  for (JobIterator end = jobs.end();; --end) {
    const std::optional<double> best_target =
        mcb8.has_too_much_memory() ? std::nullopt : find_best_target(mcb8, target, accuracy);
    if (best_target) return {std::move(ranks), mcb8.placement(), *best_target};
    const int lowest = jobs.front().rank;
    const auto item = std::lower_bound(ranks.begin(), ranks.end(), lowest) - ranks.begin();
    mcb8.drop(static_cast<int>(item));
    std::pop_heap(jobs.begin(), end, ServedBefore());
  }
}

void apply_plan(DfrsMachine& machine, RemapPlan plan) {
  const std::vector<int> running = machine.running();  // a copy: pausing changes the original
  std::size_t i = 0;
  for (const int rank : running) {
    while (i < plan.ranks.size() && plan.ranks[i] < rank) ++i;
    if (i == plan.ranks.size() || plan.ranks[i] != rank || plan.nodes[i].empty())
      machine.pause(rank, Reason::packed_out, -1, machine.priority(rank));
  }
  for (i = 0; i < plan.ranks.size(); ++i) {
    const int rank = plan.ranks[i];
    if (plan.nodes[i].empty()) continue;
    if (machine.job(rank).status != JobStatus::running)
      machine.start(rank, std::move(plan.nodes[i]), Reason::packed, -1, plan.target);
    else if (machine.job(rank).nodes != plan.nodes[i])
      machine.move(rank, std::move(plan.nodes[i]), Reason::packed, -1, plan.target);
  }
}

}  // namespace

RemapResult remap(DfrsMachine& machine, RemapLimit limit, double limit_seconds,
                  std::optional<double> period, double priority_cut) {
  ServedJobs served = select_served_jobs(machine, priority_cut);
  RemapPlan plan = pack_jobs(machine, std::move(served.jobs), limit, limit_seconds, period);
  const double target = plan.target;
  apply_plan(machine, std::move(plan));
  return {target, served.priority_cut};
}

}  // namespace cosched::cluster::dfrs
