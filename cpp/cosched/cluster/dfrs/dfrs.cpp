#include "cosched/cluster/dfrs/dfrs.hpp"

#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "cosched/cluster/dfrs/yields.hpp"

namespace cosched::cluster::dfrs {
namespace {

bool any_full(const Machine& machine) {
  for (const auto& node : machine.nodes())
    if (node.cpu_load > kCpuUnit) return true;
  return false;
}

Mapping running_mapping(const Machine& machine) {
  Mapping mapping;
  mapping.nodes = machine.node_count();
  mapping.cpu.reserve(machine.running().size());
  mapping.where.reserve(machine.running().size());
  for (const int rank : machine.running()) {
    mapping.cpu.push_back(machine.job(rank).cpu);
    mapping.where.push_back(&machine.job(rank).nodes);
  }
  return mapping;
}

std::vector<double> yields_of(const Machine& machine, Improve improve) {
  if (!any_full(machine)) return std::vector<double>(machine.running().size(), 1.0);
  const Mapping mapping = running_mapping(machine);
  switch (improve) {
    case Improve::none:
      return base_yields(mapping);
    case Improve::max_min:
      return max_min_yields(mapping);
    case Improve::average:
      return best_average_yields(mapping, base_yields(mapping),
                                 std::vector<double>(mapping.jobs(), 1.0));
  }
  return {};
}

// Yields in terms of z = inverse of the stretch estimated for the end of the period.
std::vector<double> stretch_yields(const Machine& machine, Improve improve, double period,
                                   double target) {
  const Mapping mapping = running_mapping(machine);
  std::vector<double> slope, offset, lower, weight;
  for (const int rank : machine.running()) {
    const double flow_then = machine.flow_time(rank) + period;
    slope.push_back(flow_then / period);
    offset.push_back(machine.job(rank).virtual_time / period);
    lower.push_back(std::clamp(slope.back() * target - offset.back(), 0.0, 1.0));
    weight.push_back(period / flow_then);
  }
  switch (improve) {
    case Improve::none:
      return lower;
    case Improve::max_min:
      return max_min_shares(mapping, slope, offset);
    case Improve::average:
      return best_average_yields(mapping, lower, weight);
  }
  return {};
}

class Dfrs : public Policy {
 public:
  // `period`: the T of MCB8-stretch; the simulator's period.
  Dfrs(const PolicyName& name, double period) : name_(name), period_(period) {}

  bool on_event(const Event& event, Machine& machine) override {
    switch (event.kind) {
      case EventKind::submission:
        return on_submission(event.jobs[0], machine);
      case EventKind::completion:
        if (!name_.on_completion) return false;
        if (name_.on_submit == OnSubmit::mcb8)
          remap_all(machine, std::nullopt);
        else
          greedy_resume(machine);
        return true;
      case EventKind::period:
        if (name_.periodic == Periodic::mcb8_stretch)
          target_ = remap_all(machine, period_);
        else
          remap_all(machine, std::nullopt);
        return true;
    }
    return false;
  }

  void allocate(Machine& machine) override {
    const std::vector<double> yield = name_.periodic == Periodic::mcb8_stretch
                                          ? stretch_yields(machine, name_.improve, period_, target_)
                                          : yields_of(machine, name_.improve);
    for (std::size_t k = 0; k < yield.size(); ++k)
      machine.set_yield(machine.running()[k], yield[k]);
  }

  bool periodic() const override { return name_.periodic != Periodic::none; }
  bool trusted() const override { return true; }

 private:
  bool on_submission(int rank, Machine& machine) {
    switch (name_.on_submit) {
      case OnSubmit::none:
        machine.explain_wait(rank, Reason::next_period);
        return false;
      case OnSubmit::greedy:
        greedy_start(machine, rank);
        return true;
      case OnSubmit::greedy_p:
        greedy_displace(machine, rank, Displaced::paused);
        return true;
      case OnSubmit::greedy_pm:
        greedy_displace(machine, rank, Displaced::moved_or_paused);
        return true;
      case OnSubmit::mcb8:
        remap_all(machine, std::nullopt);
        if (machine.job(rank).status != Status::running)
          machine.explain_wait(rank, Reason::packed_out, -1, machine.priority(rank));
        return true;
    }
    return false;
  }

  // The target reached.
  double remap_all(Machine& machine, std::optional<double> period) {
    const Remapped found = remap(machine, name_.limit, name_.limit_seconds, period, cut_);
    cut_ = found.cut;
    return found.target;
  }

  PolicyName name_;
  double period_;
  double target_ = 0;  // of the last MCB8-stretch
  double cut_ = 0;     // of the last remap()
};

}  // namespace

Outcome run_dfrs(const Instance& instance, const PolicyName& name, const SimulationOptions& options,
                 Trace* trace, DecisionLog* log) {
  require_memory_fits(instance);
  Dfrs policy(name, options.period);
  return simulate(instance, policy, options, trace, log);
}

namespace {

struct Candidate {
  std::int64_t load;
  int node;
  std::int64_t room;  // tasks that still fit
};

// Heap order: least load, then lowest node, on top.
struct Worse {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.load != b.load ? a.load > b.load : a.node > b.node;
  }
};

// What would be free if some running jobs were paused.
class WhatIf {
 public:
  WhatIf(const Machine& machine, const Machine::Job& incoming)
      : machine_(machine), incoming_(incoming), nodes_(machine.nodes()) {
    slots_ = free_slots(nodes_, incoming.memory_need);
  }
  bool fits() const { return slots_ >= incoming_.tasks; }
  void remove(int rank) { change(rank, -machine_.job(rank).memory_need); }
  void put_back(int rank) { change(rank, machine_.job(rank).memory_need); }

 private:
  void change(int rank, std::int64_t memory) {
    for (const int node : machine_.job(rank).nodes) {
      auto& used = nodes_[node].memory_used;
      slots_ -= slots(incoming_.memory_need, used);
      used += memory;
      slots_ += slots(incoming_.memory_need, used);
    }
  }
  const Machine& machine_;
  const Machine::Job& incoming_;
  std::vector<Machine::Node> nodes_;
  std::int64_t slots_;
};

// The nodes as they will be when some idle jobs have been started, and how many tasks of each
// shape find room there.
class Room {
 public:
  explicit Room(const Machine& machine)
      : idle_(machine.idle()), nodes_(machine.nodes()), slots_(idle_.shapes(), 0) {
    std::int64_t need = 0, free = 0;
    for (const int shape : idle_.present()) {  // by increasing need
      if (idle_.shape(shape).memory_need != need) {
        need = idle_.shape(shape).memory_need;
        free = free_slots(nodes_, need);
      }
      if (free == 0) break;
      slots_[shape] = free;
      if (fits(shape)) open_.push_back(shape);
    }
  }
  /// The shapes that fitted at first.  Starting jobs only takes memory: no other ever will.
  const std::vector<int>& open() const { return open_; }
  bool fits(int shape) const { return slots_[shape] >= idle_.shape(shape).tasks; }
  /// Nodes for a job that fits; they are taken.
  NodeList take(const Machine::Job& job) {
    NodeList chosen = greedy_nodes(nodes_, job);
    for (const int node : chosen) {
      const std::int64_t before = nodes_[node].memory_used, now = before + job.memory_need;
      for (const int shape : open_) {
        const std::int64_t need = idle_.shape(shape).memory_need;
        slots_[shape] += slots(need, now) - slots(need, before);
      }
      nodes_[node].memory_used = now;
      nodes_[node].cpu_load += job.cpu_need;
    }
    return chosen;
  }

 private:
  const IdleQueue& idle_;
  std::vector<Machine::Node> nodes_;
  std::vector<int> open_;
  std::vector<std::int64_t> slots_;  // by shape
};

// Jobs to displace, by decreasing priority; empty if displacing all would not do.
std::vector<int> choose_displaced(const Machine& machine, int rank) {
  WhatIf what_if(machine, machine.job(rank));
  std::vector<Prioritised> running;  // heap, the last in the order of service on top
  for (const int other : machine.running()) running.push_back({machine.priority(other), other});
  std::make_heap(running.begin(), running.end(), ServedBefore());
  std::vector<int> marked;
  Poll poll;
  for (auto end = running.end(); end != running.begin() && !what_if.fits(); --end) {
    const int lowest = running.front().rank;
    poll.count(std::int64_t{10} * machine.job(lowest).tasks);
    what_if.remove(lowest);
    marked.push_back(lowest);
    std::pop_heap(running.begin(), end, ServedBefore());
  }
  if (!what_if.fits()) return {};
  std::vector<int> displaced;
  for (auto at = marked.rbegin(); at != marked.rend(); ++at) {
    poll.count(std::int64_t{10} * machine.job(*at).tasks);
    what_if.put_back(*at);
    if (what_if.fits()) continue;
    what_if.remove(*at);
    displaced.push_back(*at);
  }
  return displaced;
}

// The usual case, without a heap.
NodeList node_of_one_task(const std::vector<Machine::Node>& nodes, std::int64_t memory_need) {
  // Which nodes have room is hard to foresee, for a processor too: no branch depends on it alone.
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = kNone;
  int best = -1;
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    const bool fits = memory_need <= kMemoryLimit - nodes[node].memory_used;
    const std::int64_t load = fits ? nodes[node].cpu_load : kNone;
    best = load < least ? node : best;
    least = std::min(least, load);
  }
  if (best < 0) return {};
  return {best};
}

}  // namespace

NodeList greedy_nodes(const std::vector<Machine::Node>& nodes, const Machine::Job& job) {
  if (job.tasks == 1) return node_of_one_task(nodes, job.memory_need);
  std::vector<Candidate> heap;
  std::int64_t total = 0;
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    const std::int64_t room = slots(job.memory_need, nodes[node].memory_used);
    if (room == 0) continue;
    heap.push_back({nodes[node].cpu_load, node, room});
    total += room;
  }
  if (total < job.tasks) return {};
  std::make_heap(heap.begin(), heap.end(), Worse{});
  NodeList chosen;
  chosen.reserve(job.tasks);
  Poll poll;
  while (static_cast<int>(chosen.size()) < job.tasks) {
    std::pop_heap(heap.begin(), heap.end(), Worse{});
    Candidate& best = heap.back();
    poll.count(20);
    chosen.append(1, best.node);
    best.load += job.cpu_need;
    if (--best.room == 0)
      heap.pop_back();
    else
      std::push_heap(heap.begin(), heap.end(), Worse{});
  }
  chosen.sort();
  return chosen;
}

std::int64_t free_slots(const std::vector<Machine::Node>& nodes, std::int64_t memory_need) {
  std::int64_t total = 0;
  for (const auto& node : nodes) total += slots(memory_need, node.memory_used);
  return total;
}

bool greedy_start(Machine& machine, int rank) {
  NodeList nodes = greedy_nodes(machine.nodes(), machine.job(rank));
  if (!nodes.empty()) {
    machine.start(rank, std::move(nodes), Reason::greedy);
    return true;
  }
  machine.explain_wait(
      rank, Reason::no_memory, -1,
      static_cast<double>(free_slots(machine.nodes(), machine.job(rank).memory_need)));
  return false;
}

void greedy_resume(Machine& machine) {
  Room room(machine);
  std::vector<std::pair<int, NodeList>> starts;  // rank, nodes
  ServiceOrder order(machine.idle(), room.open(), machine.now());
  while (!order.done()) {
    for (const Prioritised& job : order.next())
      if (room.fits(job.shape)) starts.emplace_back(job.rank, room.take(machine.job(job.rank)));
    order.keep([&](int shape) { return room.fits(shape); });
  }
  for (auto& [rank, nodes] : starts) machine.start(rank, std::move(nodes), Reason::greedy);
}

void greedy_displace(Machine& machine, int rank, Displaced displaced) {
  if (greedy_start(machine, rank)) return;
  const std::vector<int> chosen = choose_displaced(machine, rank);
  if (chosen.empty()) return;
  for (const int other : chosen) machine.pause(other, Reason::makes_room, rank);
  greedy_start(machine, rank);
  if (displaced == Displaced::paused) return;
  for (const int other : chosen) {
    NodeList nodes = greedy_nodes(machine.nodes(), machine.job(other));
    if (!nodes.empty()) machine.start(other, std::move(nodes), Reason::makes_room, rank);
  }
}

}  // namespace cosched::cluster::dfrs
