#include "cosched/cluster/dfrs/greedy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cosched/cluster/dfrs/service_order.hpp"
#include "cosched/cluster/model/units.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::dfrs {
namespace {

// For Poll: about a nanosecond each.
constexpr int kStepsPerChosenNode = 20;
constexpr int kStepsPerDisplacedTask = 10;

struct CandidateNode {
  std::int64_t cpu_load;
  int node;
  std::int64_t free_slots;  // tasks that still fit
};

// Heap order: the least load, then the lowest number, on top.
struct IsWorseCandidate {
  bool operator()(const CandidateNode& a, const CandidateNode& b) const {
    return a.cpu_load != b.cpu_load ? a.cpu_load > b.cpu_load : a.node > b.node;
  }
};

// Which memory would be free if some running jobs were paused.
class PauseTrial {
 public:
  PauseTrial(const DfrsMachine& machine, const DfrsMachine::Job& incoming_job)
      : machine_(machine),
        incoming_job_(incoming_job),
        nodes_(machine.nodes()),
        free_slots_(count_free_slots(nodes_, incoming_job.memory_need)) {}

  bool has_room() const { return free_slots_ >= incoming_job_.tasks; }
  void remove_job(int rank) { change_memory(rank, -machine_.job(rank).memory_need); }
  void put_back_job(int rank) { change_memory(rank, machine_.job(rank).memory_need); }

 private:
  void change_memory(int rank, std::int64_t memory) {
    for (const int node : machine_.job(rank).nodes) {
      std::int64_t& memory_used = nodes_[node].memory_used;
      free_slots_ -= slots(incoming_job_.memory_need, memory_used);
      memory_used += memory;
      free_slots_ += slots(incoming_job_.memory_need, memory_used);
    }
  }

  const DfrsMachine& machine_;
  const DfrsMachine::Job& incoming_job_;
  std::vector<DfrsMachine::NodeAccount> nodes_;
  std::int64_t free_slots_;  // for tasks of the incoming job
};

// The nodes as they will be when some idle jobs have been started, and how many tasks of each
// shape find room there.
class StartTrial {
 public:
  explicit StartTrial(const DfrsMachine& machine)
      : idle_(machine.idle()), nodes_(machine.nodes()), free_slots_(idle_.shape_count(), 0) {
    std::int64_t memory_need = 0;
    std::int64_t slots_for_need = 0;
    for (const int shape : idle_.present_shapes()) {  // by increasing need
      if (idle_.shape(shape).memory_need != memory_need) {
        memory_need = idle_.shape(shape).memory_need;
        slots_for_need = count_free_slots(nodes_, memory_need);
      }
      if (slots_for_need == 0) break;
      free_slots_[shape] = slots_for_need;
      if (has_room_for(shape)) open_shapes_.push_back(shape);
    }
  }

  // The shapes that fitted at first.  Starting jobs only takes memory: no other shape ever will.
  const std::vector<int>& open_shapes() const { return open_shapes_; }
  bool has_room_for(int shape) const { return free_slots_[shape] >= idle_.shape(shape).tasks; }

  // Chooses the nodes of a job that has room and takes its memory there.
  NodeList start_job(const DfrsMachine::Job& job) {
    NodeList chosen_nodes = choose_greedy_nodes(nodes_, job);
    for (const int node : chosen_nodes) {
      const std::int64_t memory_before = nodes_[node].memory_used;
      const std::int64_t memory_after = memory_before + job.memory_need;
      for (const int shape : open_shapes_) {
        const std::int64_t need = idle_.shape(shape).memory_need;
        free_slots_[shape] += slots(need, memory_after) - slots(need, memory_before);
      }
      nodes_[node].memory_used = memory_after;
      nodes_[node].cpu_load += job.cpu_need;
    }
    return chosen_nodes;
  }

 private:
  const IdleQueue& idle_;
  std::vector<DfrsMachine::NodeAccount> nodes_;
  std::vector<int> open_shapes_;
  std::vector<std::int64_t> free_slots_;  // by shape
};

// Jobs to displace, by decreasing priority; empty if displacing all would not make enough room.
std::vector<int> choose_displaced_jobs(const DfrsMachine& machine, int rank) {
  PauseTrial trial(machine, machine.job(rank));
  std::vector<PrioritisedJob> running;  // a heap, the last in the order of service on top
  for (const int other : machine.running()) running.push_back({machine.priority(other), other});
  std::make_heap(running.begin(), running.end(), ServedBefore());
  std::vector<int> marked_jobs;
  Poll poll;
  for (auto end = running.end(); end != running.begin() && !trial.has_room(); --end) {
    const int lowest = running.front().rank;
    poll.count(std::int64_t{kStepsPerDisplacedTask} * machine.job(lowest).tasks);
    trial.remove_job(lowest);
    marked_jobs.push_back(lowest);
    std::pop_heap(running.begin(), end, ServedBefore());
  }
  if (!trial.has_room()) return {};
  std::vector<int> displaced_jobs;
  for (auto marked = marked_jobs.rbegin(); marked != marked_jobs.rend(); ++marked) {
    poll.count(std::int64_t{kStepsPerDisplacedTask} * machine.job(*marked).tasks);
    trial.put_back_job(*marked);
    if (trial.has_room()) continue;
    trial.remove_job(*marked);
    displaced_jobs.push_back(*marked);
  }
  return displaced_jobs;
}

// choose_greedy_nodes() for one task, the usual case, without a heap.
NodeList choose_node_of_one_task(const std::vector<DfrsMachine::NodeAccount>& nodes,
                                 std::int64_t memory_need) {
  // A processor cannot predict which nodes have room: no branch depends on it alone.
  constexpr std::int64_t kNoLoad = std::numeric_limits<std::int64_t>::max();
  std::int64_t least_load = kNoLoad;
  int best_node = -1;
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    const bool has_room = memory_need <= kMemoryLimit - nodes[node].memory_used;
    const std::int64_t load = has_room ? nodes[node].cpu_load : kNoLoad;
    best_node = load < least_load ? node : best_node;
    least_load = std::min(least_load, load);
  }
  if (best_node < 0) return {};
  return {best_node};
}

}  // namespace

NodeList choose_greedy_nodes(const std::vector<DfrsMachine::NodeAccount>& nodes,
                             const DfrsMachine::Job& job) {
  if (job.tasks == 1) return choose_node_of_one_task(nodes, job.memory_need);
  std::vector<CandidateNode> heap;
  std::int64_t total_slots = 0;
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    const std::int64_t free_slots = slots(job.memory_need, nodes[node].memory_used);
    if (free_slots == 0) continue;
    heap.push_back({nodes[node].cpu_load, node, free_slots});
    total_slots += free_slots;
  }
  if (total_slots < job.tasks) return {};
  std::make_heap(heap.begin(), heap.end(), IsWorseCandidate{});
  NodeList chosen_nodes;
  chosen_nodes.reserve(job.tasks);
  Poll poll;
  while (static_cast<int>(chosen_nodes.size()) < job.tasks) {
    std::pop_heap(heap.begin(), heap.end(), IsWorseCandidate{});
    CandidateNode& best = heap.back();
    poll.count(kStepsPerChosenNode);
    chosen_nodes.append(1, best.node);
    best.cpu_load += job.cpu_need;
    --best.free_slots;
    if (best.free_slots == 0)
      heap.pop_back();
    else
      std::push_heap(heap.begin(), heap.end(), IsWorseCandidate{});
  }
  chosen_nodes.sort();
  return chosen_nodes;
}

std::int64_t count_free_slots(const std::vector<DfrsMachine::NodeAccount>& nodes,
                              std::int64_t memory_need) {
  std::int64_t total = 0;
  for (const DfrsMachine::NodeAccount& node : nodes) total += slots(memory_need, node.memory_used);
  return total;
}

bool start_greedily(DfrsMachine& machine, int rank) {
  const DfrsMachine::Job& job = machine.job(rank);
  NodeList nodes = choose_greedy_nodes(machine.nodes(), job);
  if (nodes.empty()) {
    const std::int64_t free_slots = count_free_slots(machine.nodes(), job.memory_need);
    machine.explain_wait(rank, Reason::no_memory, -1, static_cast<double>(free_slots));
    return false;
  }
  machine.start(rank, std::move(nodes), Reason::greedy);
  return true;
}

void resume_greedily(DfrsMachine& machine) {
  StartTrial trial(machine);
  std::vector<std::pair<int, NodeList>> starts;  // (rank, nodes)
  ServiceOrder order(machine.idle(), trial.open_shapes(), machine.now());
  while (!order.is_done()) {
    for (const PrioritisedJob& job : order.next_jobs())
      if (trial.has_room_for(job.shape))
        starts.emplace_back(job.rank, trial.start_job(machine.job(job.rank)));
    order.keep_shapes([&](int shape) { return trial.has_room_for(shape); });
  }
  for (auto& [rank, nodes] : starts) machine.start(rank, std::move(nodes), Reason::greedy);
}

void start_displacing(DfrsMachine& machine, int rank, Displacement displacement) {
  const bool has_started = start_greedily(machine, rank);
  if (has_started) return;
  const std::vector<int> displaced_jobs = choose_displaced_jobs(machine, rank);
  if (displaced_jobs.empty()) return;
  for (const int other : displaced_jobs) machine.pause(other, Reason::makes_room, rank);
  start_greedily(machine, rank);
  if (displacement == Displacement::pause) return;
  for (const int other : displaced_jobs) {
    NodeList nodes = choose_greedy_nodes(machine.nodes(), machine.job(other));
    if (!nodes.empty()) machine.start(other, std::move(nodes), Reason::makes_room, rank);
  }
}

}  // namespace cosched::cluster::dfrs
