#include "cosched/opt/event_network.hpp"

#include <numeric>
#include <unordered_map>

#include "cosched/core/interrupt.hpp"

namespace cosched::opt {
namespace {

// A list of numbers a task, in one array.
struct TaskLists {
  std::vector<int> begin{0}, items;

  int size() const { return static_cast<int>(begin.size()) - 1; }
  TaskGraph::TaskRange list_of(int k) const {
    return {items.data() + begin[k], items.data() + begin[k + 1]};
  }
  void end_list() { begin.push_back(static_cast<int>(items.size())); }  // ends a list
  bool has_equal_lists(int a, int b) const {
    return std::equal(list_of(a).begin(), list_of(a).end(), list_of(b).begin(), list_of(b).end());
  }
};

// Predecessor lists without those that a path of two edges implies.
TaskLists reduced_predecessors(const TaskGraph& graph) {
  TaskLists reduced;
  reduced.begin.reserve(graph.tasks() + 1);
  reduced.items.reserve(graph.edges());
  std::vector<int> implied_for(graph.tasks(), -1);
  for (int task = 0; task < graph.tasks(); ++task) {
    if (task % 1024 == 0) check_interrupt();
    const auto predecessors = graph.predecessors(task);
    if (predecessors.size() == 1) {  // no other can imply it
      reduced.items.push_back(*predecessors.begin());
      reduced.end_list();
      continue;
    }
    for (const int before : predecessors)
      for (const int earlier : graph.predecessors(before)) implied_for[earlier] = task;
    for (const int before : predecessors)
      if (implied_for[before] != task) reduced.items.push_back(before);
    reduced.end_list();
  }
  return reduced;
}

// Heads of the arcs (from, to) that leave each of `size` nodes, in their order.
template <class Arcs>
TaskLists heads_by_tail(int size, const Arcs& arcs) {
  TaskLists lists;
  lists.begin.assign(size + 1, 0);
  arcs([&](int from, int) { ++lists.begin[from + 1]; });
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.items.resize(lists.begin.back());
  std::vector<int> next(lists.begin.begin(), lists.begin.end() - 1);
  arcs([&](int from, int to) { lists.items[next[from]++] = to; });
  return lists;
}

TaskLists transpose(const TaskLists& predecessors) {
  return heads_by_tail(predecessors.size(), [&](const auto& arc) {
    for (int task = 0; task < predecessors.size(); ++task)
      for (const int before : predecessors.list_of(task)) arc(before, task);
  });
}

std::uint64_t hash_of(TaskGraph::TaskRange list) {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const int item : list)
    hash = (hash ^ static_cast<std::uint64_t>(item + 1)) * 1099511628211ULL;
  return hash;
}

struct ListGroups {
  int count = 0;
  std::vector<int> group_of_task;  // of each task; numbered by first appearance
};

// Tasks with equal lists share a group.
ListGroups group_equal_lists(const TaskLists& lists) {
  ListGroups groups;
  groups.group_of_task.resize(lists.size());
  std::unordered_multimap<std::uint64_t, int> leaders;  // the first of each group
  for (int task = 0; task < lists.size(); ++task) {
    if (task > 0 && lists.has_equal_lists(task - 1, task)) {  // common, and cheaper than to look up
      groups.group_of_task[task] = groups.group_of_task[task - 1];
      continue;
    }
    const std::uint64_t hash = hash_of(lists.list_of(task));
    const auto [first, last] = leaders.equal_range(hash);
    const auto equal_leader = std::find_if(first, last, [&](const auto& leader) {
      return lists.has_equal_lists(leader.second, task);
    });
    if (equal_leader != last) {
      groups.group_of_task[task] = groups.group_of_task[equal_leader->second];
    } else {
      groups.group_of_task[task] = groups.count++;
      leaders.emplace(hash, task);
    }
  }
  return groups;
}

using Arcs = std::vector<std::pair<int, int>>;  // (from event, to event)

// Events before any is merged: the project's begin and end, then a start for each group of tasks
// with the same predecessors, then an end for each group with the same successors.
struct ProjectEvents {
  static constexpr int kBegin = 0, kEnd = 1;
  int count;
  std::vector<int> start, end;  // of each task
};

ProjectEvents shared_events(const TaskLists& predecessors, const TaskLists& successors) {
  const ListGroups starts = group_equal_lists(predecessors), ends = group_equal_lists(successors);
  ProjectEvents events{2 + starts.count + ends.count, starts.group_of_task, ends.group_of_task};
  for (int task = 0; task < predecessors.size(); ++task) {
    const bool first = predecessors.list_of(task).size() == 0,
               last = successors.list_of(task).size() == 0;
    events.start[task] = first ? ProjectEvents::kBegin : 2 + starts.group_of_task[task];
    events.end[task] = last ? ProjectEvents::kEnd : 2 + starts.count + ends.group_of_task[task];
  }
  return events;
}

// The precedences between events, each once, sorted.
Arcs links_between(const ProjectEvents& events, const TaskLists& predecessors) {
  Arcs links;
  for (int task = 0; task < predecessors.size(); ++task)
    for (const int before : predecessors.list_of(task)) {
      const std::pair<int, int> link{events.end[before], events.start[task]};
      if (links.empty() || links.back() != link) links.push_back(link);  // less to sort
    }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

int find_root(std::vector<int>& parent, int node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

// The event that each event is merged into: the two ends of a link that is the only one to leave
// an end, or the only one to enter a start, become one.
std::vector<int> merge_only_neighbours(int events, const Arcs& links) {
  std::vector<int> leaving(events, 0), entering(events, 0);
  for (const auto& [from, to] : links) {
    ++leaving[from];
    ++entering[to];
  }
  std::vector<int> event_root(events);
  std::iota(event_root.begin(), event_root.end(), 0);
  for (const auto& [from, to] : links)
    if (leaving[from] == 1 || entering[to] == 1) {
      const int a = find_root(event_root, from), b = find_root(event_root, to);
      event_root[std::max(a, b)] = std::min(a, b);
    }
  for (int event = 0; event < events; ++event) event_root[event] = find_root(event_root, event);
  return event_root;
}

// The links under new numbers of their events, without those that have become a point.
Arcs renumber(const Arcs& links, const std::vector<int>& new_number) {
  Arcs links_left;
  for (const auto& [from, to] : links)
    if (new_number[from] != new_number[to])
      links_left.emplace_back(new_number[from], new_number[to]);
  return links_left;
}

std::vector<int> renumber(std::vector<int> events, const std::vector<int>& new_number) {
  for (int& event : events) event = new_number[event];
  return events;
}

// Kahn's algorithm over events, depth first, so that neighbours have near numbers; the
// project's begin gets 0, its end the last number.
std::vector<int> topological_numbers(int events, const Arcs& arcs) {
  std::vector<int> indegree(events, 0), number(events, -1);
  for (const auto& [from, to] : arcs) ++indegree[to];
  const TaskLists after = heads_by_tail(events, [&](const auto& visit) {
    for (const auto& [from, to] : arcs) visit(from, to);
  });
  std::vector<int> stack{ProjectEvents::kBegin};
  int count = 0;
  while (!stack.empty()) {
    const int event = stack.back();
    stack.pop_back();
    number[event] = count++;
    for (const int next : after.list_of(event))
      if (--indegree[next] == 0 && next != ProjectEvents::kEnd) stack.push_back(next);
  }
  number[ProjectEvents::kEnd] = count;
  return number;
}

Arcs with_task_arcs(Arcs arcs, const std::vector<int>& start, const std::vector<int>& end) {
  arcs.reserve(arcs.size() + start.size());
  for (std::size_t task = 0; task < start.size(); ++task) arcs.emplace_back(start[task], end[task]);
  return arcs;
}

// An arc with a flow, seen from its tail.
struct LeavingFlow {
  int head, task;  // task -1: a link
  double amount;
};

std::vector<std::vector<LeavingFlow>> flows_by_tail(const EventNetwork& network,
                                                    const std::vector<double>& task_flow,
                                                    const std::vector<double>& link_flow) {
  std::vector<std::vector<LeavingFlow>> leaving(network.nodes);
  for (std::size_t k = 0; k < network.links.size(); ++k)
    if (link_flow[k] > 0)
      leaving[network.links[k].first].push_back({network.links[k].second, -1, link_flow[k]});
  for (std::size_t task = 0; task < network.start.size(); ++task)
    if (task_flow[task] > 0)
      leaving[network.start[task]].push_back(
          {network.end[task], static_cast<int>(task), task_flow[task]});
  return leaving;
}

}  // namespace

EventNetwork make_event_network(const TaskGraph& graph) {
  const TaskLists predecessors = reduced_predecessors(graph);
  const ProjectEvents events = shared_events(predecessors, transpose(predecessors));
  const Arcs all_links = links_between(events, predecessors);

  const std::vector<int> event_root = merge_only_neighbours(events.count, all_links);
  const std::vector<int> start = renumber(events.start, event_root);
  const std::vector<int> end = renumber(events.end, event_root);
  const Arcs links = renumber(all_links, event_root);

  const std::vector<int> number =
      topological_numbers(events.count, with_task_arcs(links, start, end));
  return {number[ProjectEvents::kEnd] + 1, renumber(start, number), renumber(end, number),
          renumber(links, number)};
}

std::vector<EdgeFlow> expand_flow(const EventNetwork& network, const std::vector<double>& task_flow,
                                  const std::vector<double>& link_flow) {
  const auto leaving = flows_by_tail(network, task_flow, link_flow);
  // What has arrived at each event: (task it came from, amount).
  std::vector<std::vector<std::pair<int, double>>> arrivals(network.nodes);
  std::vector<EdgeFlow> edges;
  for (int node = 0; node + 1 < network.nodes; ++node) {
    std::size_t next = 0;
    auto& supply = arrivals[node];
    for (const LeavingFlow& arc : leaving[node]) {
      double remaining = arc.amount;
      while (node > 0 && remaining > 0 && next < supply.size()) {
        const double amount = std::min(remaining, supply[next].second);
        if (arc.task >= 0)
          edges.push_back({supply[next].first, arc.task, amount});
        else
          arrivals[arc.head].emplace_back(supply[next].first, amount);
        remaining -= amount;
        supply[next].second -= amount;
        if (supply[next].second <= 0) ++next;
      }
      if (arc.task >= 0) arrivals[arc.head].emplace_back(arc.task, arc.amount);
    }
    supply.clear();
  }
  return edges;
}

}  // namespace cosched::opt
