#include "cosched/dags/check/transfer_clusters.hpp"

namespace cosched::dags::check {

TransferClusters::TransferClusters(const TransferOpen& open) {
  const int n = open.instance().tasks();
  has_path_.assign(n, std::vector<char>(n, 0));
  const auto& order = open.instance().graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task)
    for (const NumberedEdge& edge : open.after(*task)) {
      has_path_[*task][edge.to] = 1;
      for (int other = 0; other < n; ++other)
        if (has_path_[edge.to][other]) has_path_[*task][other] = 1;
    }
}

bool TransferClusters::tighten(TransferOpen& open) const {
  const int n = open.instance().tasks();
  std::vector<char> is_visited(n, 0);
  bool any_change = false;
  for (int first = 0; first < n; ++first) {
    if (is_visited[first]) continue;
    const Cluster cluster = cluster_of(open, first, is_visited);
    for (int type = 0; type < open.types() && cluster.size() > 1; ++type)
      any_change = tighten(open, cluster, type) || any_change;
  }
  return any_change;
}

bool TransferClusters::forces_same_memory(const TransferOpen& open, const NumberedEdge& edge) {
  for (int q = 0; q < open.types(); ++q)
    for (int r = 0; r < open.types(); ++r) {
      if (open.is_placement_open(edge.edge, q, r) && (q != r || open.units_per_memory(r) == 0))
        return false;
      if (q == r && open.is_cross_memory_open(edge.edge, r)) return false;
    }
  return true;
}

// All tasks that edges of one memory join to `first`; labels them.
TransferClusters::Cluster TransferClusters::cluster_of(const TransferOpen& open, int first,
                                                       std::vector<char>& is_visited) {
  Cluster cluster{first};
  is_visited[first] = 1;
  for (std::size_t k = 0; k < cluster.size(); ++k) {
    const auto visit = [&](const NumberedEdge& edge, int other) {
      if (is_visited[other] || !forces_same_memory(open, edge)) return;
      is_visited[other] = 1;
      cluster.push_back(other);
    };
    for (const NumberedEdge& edge : open.after(cluster[k])) visit(edge, edge.to);
    for (const NumberedEdge& edge : open.before(cluster[k])) visit(edge, edge.from);
  }
  return cluster;
}

bool TransferClusters::can_fit_intervals(const TransferOpen& open, const Cluster& cluster,
                                         int type) {
  const double makespan = open.makespan();
  for (const int first : cluster)
    for (const int last : cluster) {
      const double begin = open.head(first, type), end = makespan - open.tail(last, type);
      double sum = 0;
      for (const int task : cluster)
        if (open.head(task, type) >= begin && makespan - open.tail(task, type) <= end)
          sum += open.time(task, type);
      if (sum > open.units_per_memory(type) * (end - begin + proof::kProofSlack * makespan) &&
          sum > 0)
        return false;
    }
  return true;
}

bool TransferClusters::tighten(TransferOpen& open, const Cluster& cluster, int type) const {
  bool can_fit = true, any_change = false;
  for (const int task : cluster) can_fit = can_fit && open.is_open(task, type);
  if (can_fit && can_fit_intervals(open, cluster, type)) {
    const PairsResult pairs = tighten_pairs(open, cluster, type);
    can_fit = pairs.can_fit;
    any_change = pairs.any_change;
  } else {
    can_fit = false;
  }
  for (const int task : cluster) {
    if (can_fit) {
      any_change = tighten_by_ancestors(open, cluster, task, type, false) || any_change;
      any_change = tighten_by_ancestors(open, cluster, task, type, true) || any_change;
    } else {
      any_change = any_change || open.is_open(task, type);
      open.close({false, task, type});
    }
  }
  return any_change;
}

// On one unit: not if two tasks fit in no order.
TransferClusters::PairsResult TransferClusters::tighten_pairs(TransferOpen& open,
                                                              const Cluster& cluster,
                                                              int type) const {
  if (open.units_per_memory(type) > 1) return {true, false};
  bool any_change = false;
  const auto can_precede = [&](int a, int b) {
    return !has_path_[b][a] &&
           open.head(a, type) + open.time(a, type) + open.time(b, type) + open.tail(b, type) <=
               open.limit();
  };
  for (const int a : cluster)
    for (const int b : cluster) {
      if (a == b || can_precede(b, a)) continue;
      if (!can_precede(a, b)) return {false, any_change};
      any_change =
          open.tighten(b, type, open.head(a, type) + open.time(a, type), false) || any_change;
      any_change =
          open.tighten(a, type, open.tail(b, type) + open.time(b, type), true) || any_change;
    }
  return {true, any_change};
}

bool TransferClusters::tighten_by_ancestors(TransferOpen& open, const Cluster& cluster, int task,
                                            int type, bool backward) const {
  std::vector<HeadWork> work;
  for (const int other : cluster)
    if (backward ? has_path_[task][other] : has_path_[other][task])
      work.push_back(
          {backward ? open.tail(other, type) : open.head(other, type), open.time(other, type)});
  return open.tighten(task, type, completion_time(std::move(work), open.units_per_memory(type)),
                      backward);
}

}  // namespace cosched::dags::check
