#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "cosched/cluster/batch.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::cluster {

Trace batch_trace(const Instance& instance, const Outcome& outcome) {
  std::vector<int> order(instance.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(outcome.start[a], outcome.end[a]) <
           std::pair(outcome.start[b], outcome.end[b]);
  });
  std::priority_queue<int, std::vector<int>, std::greater<>> idle;
  for (int node = 0; node < instance.nodes(); ++node) idle.push(node);
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
        idle.push(trace.node[at]);
    }
    std::vector<int> nodes;
    for (int k = 0; k < instance.jobs().tasks[job]; ++k) {
      nodes.push_back(idle.top());
      idle.pop();
    }
    const int row = trace.add_mapping(nodes);
    trace.add(job, row, outcome.start[job], outcome.end[job], 1, 1, RowCause::start);
    running.emplace(outcome.end[job], row);
  }
  return trace;
}

}  // namespace cosched::cluster
