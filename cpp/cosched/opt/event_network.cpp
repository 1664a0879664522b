#include "cosched/opt/event_network.hpp"

#include <numeric>
#include <unordered_map>

#include "cosched/core/interrupt.hpp"

namespace cosched::opt {
namespace {

// A list of numbers a task, in one array.
struct Lists {
  std::vector<int> begin{0}, items;

  int size() const { return static_cast<int>(begin.size()) - 1; }
  TaskGraph::Range at(int k) const {
    return {items.data() + begin[k], items.data() + begin[k + 1]};
  }
  void close() { begin.push_back(static_cast<int>(items.size())); }  // ends a list
  bool equal(int a, int b) const {
    return std::equal(at(a).begin(), at(a).end(), at(b).begin(), at(b).end());
  }
};

// Predecessor lists without those that a path of two edges implies.
Lists reduced_predecessors(const TaskGraph& graph) {
  Lists kept;
  kept.begin.reserve(graph.tasks() + 1);
  kept.items.reserve(graph.edges());
  std::vector<int> marked(graph.tasks(), -1);
  for (int task = 0; task < graph.tasks(); ++task) {
    if (task % 1024 == 0) check_interrupt();
    const auto predecessors = graph.predecessors(task);
    if (predecessors.size() == 1) {  // no other can imply it
      kept.items.push_back(*predecessors.begin());
      kept.close();
      continue;
    }
    for (const int before : predecessors)
      for (const int earlier : graph.predecessors(before)) marked[earlier] = task;
    for (const int before : predecessors)
      if (marked[before] != task) kept.items.push_back(before);
    kept.close();
  }
  return kept;
}

// Heads of the arcs (from, to) that leave each of `size` nodes, in their order.
template <class Arcs>
Lists heads_by_tail(int size, const Arcs& arcs) {
  Lists lists;
  lists.begin.assign(size + 1, 0);
  arcs([&](int from, int) { ++lists.begin[from + 1]; });
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.items.resize(lists.begin.back());
  std::vector<int> next(lists.begin.begin(), lists.begin.end() - 1);
  arcs([&](int from, int to) { lists.items[next[from]++] = to; });
  return lists;
}

Lists transpose(const Lists& predecessors) {
  return heads_by_tail(predecessors.size(), [&](const auto& arc) {
    for (int task = 0; task < predecessors.size(); ++task)
      for (const int before : predecessors.at(task)) arc(before, task);
  });
}

std::uint64_t hash_of(TaskGraph::Range list) {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const int item : list)
    hash = (hash ^ static_cast<std::uint64_t>(item + 1)) * 1099511628211ULL;
  return hash;
}

struct Groups {
  int count = 0;
  std::vector<int> of;  // of each task; numbered by first appearance
};

// Tasks with equal lists share a group.
Groups group_equal(const Lists& lists) {
  Groups groups;
  groups.of.resize(lists.size());
  std::unordered_multimap<std::uint64_t, int> leaders;  // the first of each group
  for (int task = 0; task < lists.size(); ++task) {
    if (task > 0 && lists.equal(task - 1, task)) {  // common, and cheaper than to look up
      groups.of[task] = groups.of[task - 1];
      continue;
    }
    const std::uint64_t hash = hash_of(lists.at(task));
    const auto [first, last] = leaders.equal_range(hash);
    const auto found = std::find_if(
        first, last, [&](const auto& leader) { return lists.equal(leader.second, task); });
    if (found != last) {
      groups.of[task] = groups.of[found->second];
    } else {
      groups.of[task] = groups.count++;
      leaders.emplace(hash, task);
    }
  }
  return groups;
}

using Arcs = std::vector<std::pair<int, int>>;  // (from event, to event)

// Events before any is merged: the project's begin and end, then a start for each group of tasks
// with the same predecessors, then an end for each group with the same successors.
struct Events {
  static constexpr int kBegin = 0, kEnd = 1;
  int count;
  std::vector<int> start, end;  // of each task
};

Events shared_events(const Lists& predecessors, const Lists& successors) {
  const Groups starts = group_equal(predecessors), ends = group_equal(successors);
  Events events{2 + starts.count + ends.count, starts.of, ends.of};
  for (int task = 0; task < predecessors.size(); ++task) {
    const bool first = predecessors.at(task).size() == 0, last = successors.at(task).size() == 0;
    events.start[task] = first ? Events::kBegin : 2 + starts.of[task];
    events.end[task] = last ? Events::kEnd : 2 + starts.count + ends.of[task];
  }
  return events;
}

// The precedences between events, each once, sorted.
Arcs links_between(const Events& events, const Lists& predecessors) {
  Arcs links;
  for (int task = 0; task < predecessors.size(); ++task)
    for (const int before : predecessors.at(task)) {
      const std::pair<int, int> link{events.end[before], events.start[task]};
      if (links.empty() || links.back() != link) links.push_back(link);  // less to sort
    }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

int find_root(std::vector<int>& parent, int node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
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
  std::vector<int> merged(events);
  std::iota(merged.begin(), merged.end(), 0);
  for (const auto& [from, to] : links)
    if (leaving[from] == 1 || entering[to] == 1) {
      const int a = find_root(merged, from), b = find_root(merged, to);
      merged[std::max(a, b)] = std::min(a, b);
    }
  for (int event = 0; event < events; ++event) merged[event] = find_root(merged, event);
  return merged;
}

// The links under new numbers of their events, without those that have become a point.
Arcs renumbered(const Arcs& links, const std::vector<int>& number) {
  Arcs kept;
  for (const auto& [from, to] : links)
    if (number[from] != number[to]) kept.emplace_back(number[from], number[to]);
  return kept;
}

std::vector<int> renumbered(std::vector<int> events, const std::vector<int>& number) {
  for (int& event : events) event = number[event];
  return events;
}

// Kahn's algorithm over events, depth first, so that neighbours have near numbers; the
// project's begin gets 0, its end the last number.
std::vector<int> topological_numbers(int events, const Arcs& arcs) {
  std::vector<int> indegree(events, 0), number(events, -1);
  for (const auto& [from, to] : arcs) ++indegree[to];
  const Lists after = heads_by_tail(events, [&](const auto& visit) {
    for (const auto& [from, to] : arcs) visit(from, to);
  });
  std::vector<int> stack{Events::kBegin};
  int count = 0;
  while (!stack.empty()) {
    const int event = stack.back();
    stack.pop_back();
    number[event] = count++;
    for (const int next : after.at(event))
      if (--indegree[next] == 0 && next != Events::kEnd) stack.push_back(next);
  }
  number[Events::kEnd] = count;
  return number;
}

Arcs with_task_arcs(Arcs arcs, const std::vector<int>& start, const std::vector<int>& end) {
  arcs.reserve(arcs.size() + start.size());
  for (std::size_t task = 0; task < start.size(); ++task) arcs.emplace_back(start[task], end[task]);
  return arcs;
}

// An arc with a flow, seen from its tail.
struct Leaving {
  int head, task;  // task -1: a link
  double amount;
};

std::vector<std::vector<Leaving>> flows_by_tail(const EventNetwork& network,
                                                const std::vector<double>& task_flow,
                                                const std::vector<double>& link_flow) {
  std::vector<std::vector<Leaving>> leaving(network.nodes);
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
  const Lists predecessors = reduced_predecessors(graph);
  const Events events = shared_events(predecessors, transpose(predecessors));
  const Arcs all_links = links_between(events, predecessors);

  const std::vector<int> merged = merge_only_neighbours(events.count, all_links);
  const std::vector<int> start = renumbered(events.start, merged);
  const std::vector<int> end = renumbered(events.end, merged);
  const Arcs links = renumbered(all_links, merged);

  const std::vector<int> number =
      topological_numbers(events.count, with_task_arcs(links, start, end));
  return {number[Events::kEnd] + 1, renumbered(start, number), renumbered(end, number),
          renumbered(links, number)};
}

PathLength::PathLength(const EventNetwork& network) : nodes_(network.nodes) {
  const auto visit = [&](const auto& arc) {
    for (std::size_t task = 0; task < network.start.size(); ++task)
      arc(network.start[task], network.end[task], static_cast<int>(task));
    for (const auto& [from, to] : network.links) arc(from, to, -1);
  };
  std::vector<int> place(nodes_ + 1, 0);
  visit([&](int, int to, int) { ++place[to + 1]; });
  std::partial_sum(place.begin(), place.end(), place.begin());
  arcs_.resize(place.back());
  visit([&](int from, int to, int task) { arcs_[place[to]++] = {from, to, task}; });
}

double PathLength::operator()(const std::vector<double>& duration) const {
  std::vector<double> time(nodes_, 0);
  for (const Arc& arc : arcs_)
    time[arc.to] = std::max(time[arc.to], time[arc.from] + (arc.task < 0 ? 0 : duration[arc.task]));
  return time.back();
}

std::vector<EdgeFlow> expand_flow(const EventNetwork& network, const std::vector<double>& task_flow,
                                  const std::vector<double>& link_flow) {
  const auto leaving = flows_by_tail(network, task_flow, link_flow);
  // What has arrived at each event: (task it came from, amount).
  std::vector<std::vector<std::pair<int, double>>> arrived(network.nodes);
  std::vector<EdgeFlow> edges;
  for (int node = 0; node + 1 < network.nodes; ++node) {
    std::size_t next = 0;
    auto& supply = arrived[node];
    for (const Leaving& arc : leaving[node]) {
      double wanted = arc.amount;
      while (node > 0 && wanted > 0 && next < supply.size()) {
        const double amount = std::min(wanted, supply[next].second);
        if (arc.task >= 0)
          edges.push_back({supply[next].first, arc.task, amount});
        else
          arrived[arc.head].emplace_back(supply[next].first, amount);
        wanted -= amount;
        if ((supply[next].second -= amount) <= 0) ++next;
      }
      if (arc.task >= 0) arrived[arc.head].emplace_back(arc.task, arc.amount);
    }
    supply.clear();
  }
  return edges;
}

}  // namespace cosched::opt
