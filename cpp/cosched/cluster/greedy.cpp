#include "cosched/cluster/greedy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster {
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

// The nodes as they will be when some idle jobs have been started, and how much room there is,
// remembered by memory need: few needs are distinct.
class Room {
 public:
  explicit Room(const Machine& machine) : nodes_(machine.nodes()) {}
  bool fits(std::int64_t need, int tasks) {
    const auto at =
        std::lower_bound(known_.begin(), known_.end(), need,
                         [](const Known& known, std::int64_t value) { return known.need < value; });
    if (at != known_.end() && at->need == need) return at->slots >= tasks;
    const std::int64_t room = free_slots(nodes_, need);
    known_.insert(at, {need, room});
    return room >= tasks;
  }
  /// Nodes for a job that fits; they are taken.
  std::vector<int> take(const Machine::Job& job) {
    std::vector<int> chosen = greedy_nodes(nodes_, job);
    for (const int node : chosen) {
      const std::int64_t before = nodes_[node].memory_used, now = before + job.memory_need;
      for (Known& known : known_) known.slots += slots(known.need, now) - slots(known.need, before);
      nodes_[node].memory_used = now;
      nodes_[node].cpu_load += job.cpu_need;
    }
    return chosen;
  }

 private:
  struct Known {
    std::int64_t need, slots;
  };
  std::vector<Machine::Node> nodes_;
  std::vector<Known> known_;  // by increasing need
};

// Jobs to displace, by decreasing priority; empty if displacing all would not do.
std::vector<int> choose_displaced(const Machine& machine, int rank) {
  WhatIf what_if(machine, machine.job(rank));
  std::vector<int> marked;
  std::vector<int> running = machine.by_priority(machine.running());
  Poll poll;
  for (auto at = running.rbegin(); at != running.rend() && !what_if.fits(); ++at) {
    poll.count(std::int64_t{10} * machine.job(*at).tasks);
    what_if.remove(*at);
    marked.push_back(*at);
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
std::vector<int> node_of_one_task(const std::vector<Machine::Node>& nodes,
                                  std::int64_t memory_need) {
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

std::vector<int> greedy_nodes(const std::vector<Machine::Node>& nodes, const Machine::Job& job) {
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
  std::vector<int> chosen;
  chosen.reserve(job.tasks);
  Poll poll;
  while (static_cast<int>(chosen.size()) < job.tasks) {
    std::pop_heap(heap.begin(), heap.end(), Worse{});
    Candidate& best = heap.back();
    poll.count(20);
    chosen.push_back(best.node);
    best.load += job.cpu_need;
    if (--best.room == 0)
      heap.pop_back();
    else
      std::push_heap(heap.begin(), heap.end(), Worse{});
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::int64_t free_slots(const std::vector<Machine::Node>& nodes, std::int64_t memory_need) {
  std::int64_t total = 0;
  for (const auto& node : nodes) total += slots(memory_need, node.memory_used);
  return total;
}

bool greedy_start(Machine& machine, int rank) {
  std::vector<int> nodes = greedy_nodes(machine.nodes(), machine.job(rank));
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
  // Starting jobs only takes memory: who finds no room now will not find it later.
  Room room(machine);
  const IdleQueue& idle = machine.idle();
  const auto fits = [&](int shape) {
    return room.fits(idle.shape(shape).memory_need, idle.shape(shape).tasks);
  };
  std::vector<int> open;  // shapes with room
  for (const int shape : idle.present()) {
    if (!room.fits(idle.shape(shape).memory_need, 1)) break;  // needs increase
    if (fits(shape)) open.push_back(shape);
  }
  std::vector<std::pair<int, std::vector<int>>> starts;  // rank, nodes
  for (ServiceOrder order(idle, open, machine.now()); !order.done(); order.keep(fits))
    for (const Prioritised& job : order.next())
      if (fits(job.shape)) starts.emplace_back(job.rank, room.take(machine.job(job.rank)));
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
    std::vector<int> nodes = greedy_nodes(machine.nodes(), machine.job(other));
    if (!nodes.empty()) machine.start(other, std::move(nodes), Reason::makes_room, rank);
  }
}

}  // namespace cosched::cluster
