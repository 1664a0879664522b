#include "cosched/dags/event_network.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "cosched/core/interrupt.hpp"

namespace cosched::dags {
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

// group[task]: tasks with equal lists share a number.  Numbers by first appearance.
std::vector<int> group_equal(const Lists& lists, int& groups) {
  std::vector<int> group(lists.size());
  std::unordered_multimap<std::uint64_t, int> leaders;  // the first of each group
  groups = 0;
  for (int task = 0; task < lists.size(); ++task) {
    if (task > 0 && lists.equal(task - 1, task)) {  // common, and cheaper than to look up
      group[task] = group[task - 1];
      continue;
    }
    const std::uint64_t hash = hash_of(lists.at(task));
    const auto [first, last] = leaders.equal_range(hash);
    const auto found = std::find_if(
        first, last, [&](const auto& leader) { return lists.equal(leader.second, task); });
    group[task] = found != last ? group[found->second] : groups++;
    if (found == last) leaders.emplace(hash, task);
  }
  return group;
}

int find_root(std::vector<int>& parent, int node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

// Kahn's algorithm over events, depth first, so that neighbours have near numbers; the
// project's begin gets 0, its end the last number.
std::vector<int> number_events(int nodes, int begin, int end,
                               const std::vector<std::pair<int, int>>& arcs) {
  std::vector<int> indegree(nodes, 0), number(nodes, -1);
  for (const auto& [from, to] : arcs) ++indegree[to];
  const Lists after = heads_by_tail(nodes, [&](const auto& visit) {
    for (const auto& [from, to] : arcs) visit(from, to);
  });
  std::vector<int> stack{begin};
  int count = 0;
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    number[node] = count++;
    for (const int next : after.at(node))
      if (--indegree[next] == 0 && next != end) stack.push_back(next);
  }
  number[end] = count;
  return number;
}

}  // namespace

EventNetwork make_event_network(const TaskGraph& graph) {
  const int n = graph.tasks();
  const Lists predecessors = reduced_predecessors(graph);
  const Lists successors = transpose(predecessors);
  int starts = 0, ends = 0;
  const std::vector<int> start_group = group_equal(predecessors, starts);
  const std::vector<int> end_group = group_equal(successors, ends);

  // Events before merging: begin, end of the project, start groups, end groups.
  const auto start_node = [&](int task) { return 2 + start_group[task]; };
  const auto end_node = [&](int task) { return 2 + starts + end_group[task]; };
  std::vector<int> merged(2 + starts + ends);
  std::iota(merged.begin(), merged.end(), 0);
  std::vector<std::pair<int, int>> links;  // end group -> start group
  for (int task = 0; task < n; ++task) {
    if (predecessors.at(task).size() == 0) merged[start_node(task)] = 0;
    if (successors.at(task).size() == 0) merged[end_node(task)] = 1;
    for (const int before : predecessors.at(task)) {
      const std::pair<int, int> link{end_node(before), start_node(task)};
      if (links.empty() || links.back() != link) links.push_back(link);  // less to sort
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  std::vector<int> leaving(merged.size(), 0), entering(merged.size(), 0);
  for (const auto& [from, to] : links) {
    ++leaving[from];
    ++entering[to];
  }
  for (const auto& [from, to] : links)
    if (leaving[from] == 1 || entering[to] == 1) {
      const int a = find_root(merged, from), b = find_root(merged, to);
      merged[std::max(a, b)] = std::min(a, b);
    }

  std::vector<std::pair<int, int>> arcs;
  std::vector<std::pair<int, int>> kept_links;
  for (const auto& [from, to] : links) {
    const int a = find_root(merged, from), b = find_root(merged, to);
    if (a != b) kept_links.emplace_back(a, b);
  }
  arcs = kept_links;
  arcs.reserve(arcs.size() + n);
  for (int task = 0; task < n; ++task)
    arcs.emplace_back(find_root(merged, start_node(task)), find_root(merged, end_node(task)));
  const std::vector<int> number = number_events(static_cast<int>(merged.size()), 0, 1, arcs);

  EventNetwork network;
  network.nodes = number[1] + 1;
  network.start.reserve(n);
  network.end.reserve(n);
  for (int task = 0; task < n; ++task) {
    network.start.push_back(number[find_root(merged, start_node(task))]);
    network.end.push_back(number[find_root(merged, end_node(task))]);
  }
  for (const auto& [from, to] : kept_links) network.links.emplace_back(number[from], number[to]);
  return network;
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
  // Arcs by tail; what has arrived at each event, as (task it came from, amount).
  struct Leaving {
    int head, task;  // task -1: a link
    double amount;
  };
  std::vector<std::vector<Leaving>> leaving(network.nodes);
  for (std::size_t k = 0; k < network.links.size(); ++k)
    if (link_flow[k] > 0)
      leaving[network.links[k].first].push_back({network.links[k].second, -1, link_flow[k]});
  for (std::size_t task = 0; task < network.start.size(); ++task)
    if (task_flow[task] > 0)
      leaving[network.start[task]].push_back(
          {network.end[task], static_cast<int>(task), task_flow[task]});

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

}  // namespace cosched::dags
