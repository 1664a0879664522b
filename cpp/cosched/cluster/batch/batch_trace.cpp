#include "cosched/cluster/batch/batch_trace.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::cluster::batch {
namespace {

// How many nodes of a cell a job had.
struct CellShare {
  std::size_t cell;
  int node_count;
};

// Idle nodes by number, in cells whose nodes are numbered one after the other.
class IdleNodes {
 public:
  // All but the excluded ones are idle.
  IdleNodes(const std::vector<int>& cell_nodes, std::vector<int> excluded_nodes)
      : idle_(cell_nodes.size()) {
    std::sort(excluded_nodes.begin(), excluded_nodes.end());
    for (std::size_t cell = 0; cell < cell_nodes.size(); ++cell)
      for (int k = 0; k < cell_nodes[cell]; ++k) {
        const auto node = static_cast<int>(cell_of_node_.size());
        if (!std::binary_search(excluded_nodes.begin(), excluded_nodes.end(), node))
          idle_[cell].push(node);
        cell_of_node_.push_back(cell);
      }
  }

  // The lowest numbers of the cell are appended to `nodes` and no longer idle.
  void take_lowest(const CellShare& share, std::vector<int>& nodes) {
    for (int k = 0; k < share.node_count; ++k) {
      nodes.push_back(idle_[share.cell].top());
      idle_[share.cell].pop();
    }
  }

  void put_back(int node) { idle_[cell_of_node_[node]].push(node); }

 private:
  using LowestFirst = std::priority_queue<int, std::vector<int>, std::greater<>>;

  std::vector<LowestFirst> idle_;  // by cell
  std::vector<std::size_t> cell_of_node_;
};

// Cell c has cell_nodes[c] nodes, numbered on from those before it.  `initial_nodes` as in Layout.
// shares_of(job) lists the nodes that the job had, as CellShare.
template <class SharesOf>
Trace make_trace(const Instance& instance, const std::vector<int>& cell_nodes,
                 const SimulationOutcome& outcome,
                 const std::vector<std::vector<int>>& initial_nodes, const SharesOf& shares_of) {
  const auto has_initial_nodes = [&](int job) {
    return !initial_nodes.empty() && !initial_nodes[job].empty();
  };
  const std::vector<int> jobs_by_start = sorted_numbers(instance.size(), [&](int a, int b) {
    return std::tuple(outcome.start[a], !has_initial_nodes(a), outcome.end[a]) <
           std::tuple(outcome.start[b], !has_initial_nodes(b), outcome.end[b]);
  });
  std::vector<int> all_initial_nodes;
  for (const std::vector<int>& nodes : initial_nodes)
    all_initial_nodes.insert(all_initial_nodes.end(), nodes.begin(), nodes.end());
  IdleNodes idle_nodes(cell_nodes, std::move(all_initial_nodes));
  using End = std::pair<double, int>;  // (time, row)
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  Trace trace;
  Poll poll;
  for (const int job : jobs_by_start) {
    poll.count(50 + 100 * instance.jobs().tasks[job]);
    // Times are the simulator's own: comparing them exactly is right.
    for (; !ends.empty() && ends.top().first <= outcome.start[job]; ends.pop()) {
      const int row = ends.top().second;
      for (auto k = trace.node_begin[row]; k < trace.node_begin[row + 1]; ++k)
        idle_nodes.put_back(trace.node[k]);
    }
    std::vector<int> nodes;
    if (has_initial_nodes(job)) {
      nodes = initial_nodes[job];
    } else {
      for (const CellShare& share : shares_of(job)) idle_nodes.take_lowest(share, nodes);
    }
    const int row = trace.add_mapping(nodes);
    trace.add(job, row, outcome.start[job], outcome.end[job], 1, 1, RowCause::start);
    ends.emplace(outcome.end[job], row);
  }
  return trace;
}

}  // namespace

Trace batch_trace(const Instance& instance, const SimulationOutcome& outcome) {
  return make_trace(instance, {instance.nodes()}, outcome, {}, [&](int job) {
    return std::vector<CellShare>{{.cell = 0, .node_count = instance.jobs().tasks[job]}};
  });
}

Trace placed_trace(const Instance& instance, const Layout& layout, const PlacedOutcome& placed) {
  const std::size_t cell_count = layout.nodes.size();
  return make_trace(instance, layout.nodes, placed.outcome, layout.initial_nodes, [&](int job) {
    std::vector<CellShare> shares;
    for (std::size_t c = 0; c < cell_count; ++c)
      shares.push_back({c, placed.shares[job * cell_count + c]});
    return shares;
  });
}

Trace site_trace(const Instance& instance, const Site& site, const SiteOutcome& placed) {
  // Each node is a cell of cores.  Cores are numbered node by node in the machine's order, which is
  // not the order in which the site fills its nodes.
  const std::vector<int> nodes_by_core = sorted_numbers(site.nodes().size(), [&](int a, int b) {
    return site.nodes()[a].first_core < site.nodes()[b].first_core;
  });
  std::vector<int> cell_cores;
  std::vector<std::size_t> cell_of_node(nodes_by_core.size());
  for (const int node : nodes_by_core) {
    cell_of_node[node] = cell_cores.size();
    cell_cores.push_back(site.nodes()[node].capacity.cores);
  }
  return make_trace(instance, cell_cores, placed.outcome, site.initial_cores(), [&](int job) {
    std::vector<CellShare> shares;
    for (const Piece& piece : placed.placements[job])
      shares.push_back({cell_of_node[piece.node], piece.amounts.cores});
    // A mapping lists its nodes in increasing order.
    std::sort(shares.begin(), shares.end(), [](const CellShare& a, const CellShare& b) {
      return std::tuple(a.cell, a.node_count) < std::tuple(b.cell, b.node_count);
    });
    return shares;
  });
}

}  // namespace cosched::cluster::batch
