#include "cosched/cluster/batch/layout.hpp"

#include <functional>
#include <queue>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::cluster::batch {

Layout one_cell(const Instance& instance) {
  return {{instance.nodes()}, std::vector<std::uint64_t>(instance.size(), 1)};
}

void require_held(const std::vector<std::vector<int>>& held, const Instance& instance) {
  if (static_cast<int>(held.size()) != instance.size())
    throw InvalidInstance("jobs that run are those of another instance");
  std::vector<char> taken(static_cast<std::size_t>(instance.nodes()));
  for (int j = 0; j < instance.size(); ++j) {
    if (held[j].empty()) continue;
    if (static_cast<int>(held[j].size()) != instance.jobs().tasks[j])
      throw InvalidInstance("a job that runs holds others than its nodes");
    for (const int node : held[j])
      if (node < 0 || node >= instance.nodes() || std::exchange(taken[node], 1))
        throw InvalidInstance("jobs that run: expected nodes of the machine, each of one job");
  }
}

std::vector<int> Layout::held_of_cells(int job) const {
  std::vector<int> count(nodes.size());
  for (const int node : held[job]) {
    std::size_t cell = 0;
    for (int first = nodes[0]; node >= first; first += nodes[++cell]) {
    }
    ++count[cell];
  }
  return count;
}

void require_layout_fits(const Instance& instance, const Layout& layout) {
  const std::int64_t total =
      std::accumulate(layout.nodes.begin(), layout.nodes.end(), std::int64_t{0});
  if (layout.cells() > kMostCells)
    throw InvalidInstance("partitions divide the nodes into " + std::to_string(layout.cells()) +
                          " parts: expected at most " + std::to_string(kMostCells));
  if (total != instance.nodes() || static_cast<int>(layout.allowed.size()) != instance.size())
    throw InvalidInstance("the partitions are those of another instance");
  if (!layout.held.empty()) require_held(layout.held, instance);
  for (int j = 0; j < instance.size(); ++j) {
    std::int64_t room = 0;
    for (int c = 0; c < layout.cells(); ++c)
      if (layout.allowed[j] >> c & 1) room += layout.nodes[c];
    if (instance.jobs().tasks[j] <= room) continue;
    const std::string whose = room == total ? "the machine" : "its partition";
    throw InfeasibleError(instance.jobs().place(j) + ": needs " +
                          std::to_string(instance.jobs().tasks[j]) + " nodes, " + whose + " has " +
                          std::to_string(room) + "; drop it with --drop too-wide");
  }
}

namespace {

// share(job, take) calls take(c, count) for the nodes of each cell c that the job has;
// cell_nodes[c] nodes in all, numbered on from those before it.
template <class Share>
Trace trace_of(const Instance& instance, const std::vector<int>& cell_nodes, const Outcome& outcome,
               const std::vector<std::vector<int>>& held, const Share& share) {
  const auto holds = [&](int job) { return !held.empty() && !held[job].empty(); };
  const std::size_t cells = cell_nodes.size();
  std::vector<int> order = sorted_numbers(instance.size(), [&](int a, int b) {
    return std::tuple(outcome.start[a], !holds(a), outcome.end[a]) <
           std::tuple(outcome.start[b], !holds(b), outcome.end[b]);
  });
  std::vector<std::size_t> cell_of;
  using Idle = std::priority_queue<int, std::vector<int>, std::greater<>>;
  std::vector<Idle> idle(cells);
  std::vector<int> taken;
  for (const auto& nodes : held) taken.insert(taken.end(), nodes.begin(), nodes.end());
  std::sort(taken.begin(), taken.end());
  for (std::size_t c = 0; c < cells; ++c)
    for (int k = 0; k < cell_nodes[c]; ++k) {
      const auto node = static_cast<int>(cell_of.size());
      if (!std::binary_search(taken.begin(), taken.end(), node)) idle[c].push(node);
      cell_of.push_back(c);
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
    if (holds(job)) nodes = held[job];
    const auto take = [&](std::size_t c, int count) {
      for (; count > 0; --count) {
        nodes.push_back(idle[c].top());
        idle[c].pop();
      }
    };
    if (nodes.empty()) share(job, take);
    const int row = trace.add_mapping(nodes);
    trace.add(job, row, outcome.start[job], outcome.end[job], 1, 1, RowCause::start);
    running.emplace(outcome.end[job], row);
  }
  return trace;
}

}  // namespace

Trace placed_trace(const Instance& instance, const Layout& layout, const PlacedOutcome& placed) {
  const std::size_t cells = layout.nodes.size();
  return trace_of(instance, layout.nodes, placed.outcome, layout.held,
                  [&](int job, const auto& take) {
                    for (std::size_t c = 0; c < cells; ++c) take(c, placed.shares[job * cells + c]);
                  });
}

Trace site_trace(const Instance& instance, const Site& site, const SiteOutcome& placed) {
  // Cores are numbered node by node as the machine has them, not as they are filled.
  std::vector<int> by_core(site.nodes().size());
  std::iota(by_core.begin(), by_core.end(), 0);
  std::sort(by_core.begin(), by_core.end(),
            [&](int a, int b) { return site.nodes()[a].first_core < site.nodes()[b].first_core; });
  std::vector<int> cores, place(by_core.size());
  for (const int node : by_core) {
    place[node] = static_cast<int>(cores.size());
    cores.push_back(site.nodes()[node].all.cores);
  }
  return trace_of(
      instance, cores, placed.outcome, site.held_cores(), [&](int job, const auto& take) {
        std::vector<std::pair<int, int>> pieces;  // (place, cores), as rows have them: increasing
        for (const Piece& piece : placed.placements[job])
          pieces.emplace_back(place[piece.node], piece.held.cores);
        std::sort(pieces.begin(), pieces.end());
        for (const auto& [at, count] : pieces) take(static_cast<std::size_t>(at), count);
      });
}

Trace batch_trace(const Instance& instance, const Outcome& outcome) {
  return trace_of(instance, {instance.nodes()}, outcome, {}, [&](int job, const auto& take) {
    take(std::size_t{0}, instance.jobs().tasks[job]);
  });
}

}  // namespace cosched::cluster::batch
