#include "cosched/cluster/batch/batch_trace.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::batch {

namespace {

// shares[j * cells + c] nodes of cell c; cell_nodes[c] nodes in all, numbered on from those before it.
Trace trace_of(const Instance& instance, const std::vector<int>& cell_nodes, const Outcome& outcome,
               const std::vector<int>& shares) {
  const std::size_t cells = cell_nodes.size();
  std::vector<int> order(instance.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(outcome.start[a], outcome.end[a]) <
           std::pair(outcome.start[b], outcome.end[b]);
  });
  std::vector<int> cell_of(instance.nodes());
  using Idle = std::priority_queue<int, std::vector<int>, std::greater<>>;
  std::vector<Idle> idle(cells);
  for (int node = 0, c = 0, left = cell_nodes[0]; node < instance.nodes(); ++node, --left) {
    while (left == 0) left = cell_nodes[++c];
    cell_of[node] = c;
    idle[c].push(node);
  }
  using End = std::pair<double, int>;  // (time, row)
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  Trace trace;
  Poll poll;
  for (const int job : order) {
    poll.count(50 + 100 * instance.jobs().tasks[job]);
    // Times are the simulator's own: comparing them exactly is right.
    for (; !running.empty() && running.top().first <= outcome.start[job]; running.pop()) {
      const int row = running.top().second;
      for (auto at = trace.node_begin[row]; at < trace.node_begin[row + 1]; ++at)
        idle[cell_of[trace.node[at]]].push(trace.node[at]);
    }
    std::vector<int> nodes;
    for (std::size_t c = 0; c < cells; ++c)
      for (int k = 0; k < shares[job * cells + c]; ++k) {
        nodes.push_back(idle[c].top());
        idle[c].pop();
      }
    const int row = trace.add_mapping(nodes);
    trace.add(job, row, outcome.start[job], outcome.end[job], 1, 1, RowCause::start);
    running.emplace(outcome.end[job], row);
  }
  return trace;
}

}  // namespace

Trace placed_trace(const Instance& instance, const Layout& layout, const PlacedOutcome& placed) {
  return trace_of(instance, layout.nodes, placed.outcome, placed.shares);
}

Trace batch_trace(const Instance& instance, const Outcome& outcome) {
  return trace_of(instance, {instance.nodes()}, outcome, instance.jobs().tasks);
}

}  // namespace cosched::cluster::batch
