#include "cosched/cluster/dfrs/mcb8_search.hpp"

namespace cosched::cluster::dfrs {
namespace {

bool keeps_nodes(const Machine& machine, int rank, Limit limit, double seconds) {
  if (machine.job(rank).status != Status::running) return false;
  switch (limit) {
    case Limit::none:
      return false;
    case Limit::virtual_time:
      return machine.job(rank).virtual_time < seconds;
    case Limit::flow_time:
      return machine.flow_time(rank) < seconds;
  }
  return false;
}

// What to look at where the jobs of priority >= `first` are not enough, in the try of that number:
// priorities in a long queue are nearly equal, so the steps are small at first.
double lower(double first, int attempt) {
  const double part = std::exp2(attempt - 14);
  return first == kInfinity || part > 1 ? 0 : first * (1 - part);
}

// Of all tasks.
double memory_of(const IdleQueue& idle, const Prioritised& job) {
  const IdleQueue::Shape& shape = idle.shape(job.shape);
  return shape.memory * shape.tasks;
}

constexpr std::ptrdiff_t kFewJobs = 12;  // jobs that are sorted

double middle_of(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Moves to the front the jobs that come first in the order of service, as many as fit in `room` of
// memory, in no particular order; returns their end.  A quickselect by weights: O(jobs) expected.
std::vector<Prioritised>::iterator select_fitting(std::vector<Prioritised>& jobs,
                                                  const IdleQueue& idle, double room) {
  auto first = jobs.begin(), last = jobs.end();  // of those not yet known to be in or out
  while (last - first > kFewJobs) {
    const double pivot =
        middle_of(first->priority, first[(last - first) / 2].priority, last[-1].priority);
    auto middle = first;
    for (auto job = first; job != last; ++job) {
      // Which are higher is hard to foresee, for a processor too: no branch depends on it.
      const Prioritised moved = *job;
      *job = *middle;
      *middle = moved;
      middle += moved.priority > pivot ? 1 : 0;
    }
    double memory = 0;
    for (auto job = first; job != middle; ++job) memory += memory_of(idle, *job);
    if (memory > room) {
      last = middle;
    } else if (middle == first) {  // several are the highest
      break;
    } else {
      room -= memory;
      first = middle;
    }
  }
  std::sort(first, last, ServedBefore());
  for (; first != last; ++first)
    if ((room -= memory_of(idle, *first)) < 0) break;
  return first;
}

// The jobs in the system that come first in the order of service (decreasing priority, ties by
// submission), as many as fit in the memory of all nodes together; in no particular order.  Looks
// first at those of priority >= `cut` only, which are enough where the last call's are not far off.
struct Prefix {
  std::vector<Prioritised> jobs;
  double cut;  // for the next one
};

Prefix memory_prefix(const Machine& machine, double cut) {
  const IdleQueue& idle = machine.idle();
  const double room = machine.node_count() * (1 + 1e-9);
  double least = cut;
  for (int attempt = 0;; least = lower(cut, ++attempt)) {
    std::vector<Prioritised> jobs;
    jobs.reserve(4 * machine.running().size());
    for (const int rank : machine.running())
      if (const double priority = machine.priority(rank); priority >= least)
        jobs.push_back({priority, rank, idle.shape_of(rank)});
    jobs = idle.append(std::move(jobs), machine.now(), least);
    const auto end = select_fitting(jobs, idle, room);
    if (end == jobs.end() && least > 0) continue;
    // The jobs that run now will be far behind then, and as many as they have come after them.
    const std::ptrdiff_t next = end - jobs.begin();
    double next_cut = least;
    if (next < jobs.end() - end) {
      std::nth_element(end, end + next, jobs.end(), ServedBefore());
      next_cut = end[next].priority;
    }
    jobs.erase(end, jobs.end());
    for (const Prioritised& job : jobs) machine.expect(job.rank);
    return {std::move(jobs), next_cut};
  }
}

struct Remap {
  std::vector<int> ranks;  // increasing; those without nodes were dropped
  std::vector<NodeList> nodes;
  double target = 0;
};

// What the search works with.
struct Search {
  Mcb8 mcb8;
  Target target;
  double accuracy;
};

Search search_for(const Machine& machine, const std::vector<int>& ranks,
                  std::optional<double> period) {
  std::vector<int> tasks;
  std::vector<double> memory, cpu, flow_time, virtual_time;
  for (auto* column : {&memory, &cpu}) column->reserve(ranks.size());
  tasks.reserve(ranks.size());
  for (const int rank : ranks) {
    const Machine::Job& job = machine.job(rank);
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
  Kinds kinds = kinds_of(cpu);
  const std::size_t count = kinds.values.size();
  return {Mcb8(std::move(tasks), std::move(memory), std::move(kinds.of), count, nodes),
          yield_target(std::move(kinds.values)), kYieldAccuracy};
}

Remap pack_jobs(const Machine& machine, std::vector<Prioritised> jobs, Limit limit,
                double limit_seconds, std::optional<double> period) {
  std::make_heap(jobs.begin(), jobs.end(), ServedBefore());  // the first to be dropped on top
  std::vector<int> ranks;
  ranks.reserve(jobs.size());
  for (const Prioritised& job : jobs) ranks.push_back(job.rank);
  std::sort(ranks.begin(), ranks.end());
  auto [mcb8, target, accuracy] = search_for(machine, ranks, period);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (keeps_nodes(machine, ranks[i], limit, limit_seconds))
      mcb8.pin(static_cast<int>(i), machine.job(ranks[i]).nodes);
  for (auto end = jobs.end();;) {
    const auto best = mcb8.surely_too_much() ? std::nullopt : best_target(mcb8, target, accuracy);
    if (best) return {std::move(ranks), mcb8.placement(), *best};
    const int lowest = jobs.front().rank;
    const auto item = std::lower_bound(ranks.begin(), ranks.end(), lowest) - ranks.begin();
    mcb8.drop(static_cast<int>(item));
    std::pop_heap(jobs.begin(), end--, ServedBefore());
  }
}

void apply(Machine& machine, Remap remap) {
  const std::vector<int> running = machine.running();
  std::size_t at = 0;
  for (const int rank : running) {
    while (at < remap.ranks.size() && remap.ranks[at] < rank) ++at;
    if (at == remap.ranks.size() || remap.ranks[at] != rank || remap.nodes[at].empty())
      machine.pause(rank, Reason::packed_out, -1, machine.priority(rank));
  }
  for (std::size_t i = 0; i < remap.ranks.size(); ++i) {
    const int rank = remap.ranks[i];
    if (remap.nodes[i].empty()) continue;
    if (machine.job(rank).status != Status::running)
      machine.start(rank, std::move(remap.nodes[i]), Reason::packed, -1, remap.target);
    else if (machine.job(rank).nodes != remap.nodes[i])
      machine.move(rank, std::move(remap.nodes[i]), Reason::packed, -1, remap.target);
  }
}

}  // namespace

Target yield_target(std::vector<double> cpu) {
  // The order by Y c_j is that by c_j, whatever Y > 0; at Y = 0 all are in the memory list.
  std::vector<int> order = by_decreasing(cpu);
  return [order = std::move(order), cpu = std::move(cpu)](double yield, const Mcb8&,
                                                          Requirements& needs) {
    needs.cpu.resize(cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) needs.cpu[i] = yield * cpu[i];
    if (needs.by_cpu.empty()) needs.by_cpu = order;
    return true;
  };
}

Target stretch_target(std::vector<double> cpu, std::vector<double> flow_time,
                      std::vector<double> virtual_time, double period) {
  return [cpu = std::move(cpu), flow_time = std::move(flow_time),
          virtual_time = std::move(virtual_time),
          period](double z, const Mcb8& mcb8, Requirements& needs) {
    needs.cpu.resize(cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      const double yield = std::max(0.0, (z * (flow_time[i] + period) - virtual_time[i]) / period);
      if (yield > 1 + 1e-9 && !mcb8.dropped(static_cast<int>(i))) return false;
      needs.cpu[i] = std::min(yield, 1.0) * cpu[i];
    }
    needs.by_cpu = by_decreasing(needs.cpu);
    return true;
  };
}

std::optional<double> best_target(Mcb8& mcb8, const Target& target, double accuracy) {
  Requirements needs;
  const auto packs = [&](double value) {
    if (!target(value, mcb8, needs) || !mcb8.pack(needs.cpu, needs.by_cpu)) return false;
    mcb8.keep();
    return true;
  };
  if (packs(1)) return 1;
  if (!packs(0)) return std::nullopt;
  double low = 0, high = 1;
  while (high - low > accuracy) {
    const double middle = (low + high) / 2;
    (packs(middle) ? low : high) = middle;
  }
  return low;
}

Remapped remap(Machine& machine, Limit limit, double limit_seconds, std::optional<double> period,
               double cut) {
  Prefix prefix = memory_prefix(machine, cut);
  Remap found = pack_jobs(machine, std::move(prefix.jobs), limit, limit_seconds, period);
  const double target = found.target;
  apply(machine, std::move(found));
  return {target, prefix.cut};
}

}  // namespace cosched::cluster::dfrs
