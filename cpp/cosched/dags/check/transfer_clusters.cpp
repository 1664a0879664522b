#include "cosched/dags/check/transfer_clusters.hpp"

namespace cosched::dags::check {
namespace {

using Joint = TransferOpen::Joint;

bool binding(const TransferOpen& open, const Joint& edge) {
  for (int q = 0; q < open.types(); ++q)
    for (int r = 0; r < open.types(); ++r) {
      if (open.joint(edge.edge, q, r) && (q != r || open.home(r) == 0)) return false;
      if (q == r && open.far(edge.edge, r)) return false;
    }
  return true;
}

// All tasks that edges of one memory join to `first`; labels them.
std::vector<int> cluster_of(const TransferOpen& open, int first, std::vector<char>& seen) {
  std::vector<int> cluster{first};
  seen[first] = 1;
  for (std::size_t k = 0; k < cluster.size(); ++k) {
    const auto visit = [&](const Joint& edge, int other) {
      if (seen[other] || !binding(open, edge)) return;
      seen[other] = 1;
      cluster.push_back(other);
    };
    for (const Joint& edge : open.after(cluster[k])) visit(edge, edge.to);
    for (const Joint& edge : open.before(cluster[k])) visit(edge, edge.from);
  }
  return cluster;
}

bool intervals_fit(const TransferOpen& open, const std::vector<int>& cluster, int type) {
  const double makespan = open.makespan();
  for (const int first : cluster)
    for (const int last : cluster) {
      const double begin = open.head(first, type), end = makespan - open.tail(last, type);
      double sum = 0;
      for (const int task : cluster)
        if (open.head(task, type) >= begin && makespan - open.tail(task, type) <= end)
          sum += open.time(task, type);
      if (sum > open.home(type) * (end - begin + proof::kProofSlack * makespan) && sum > 0)
        return false;
    }
  return true;
}

}  // namespace

TransferClusters::TransferClusters(const TransferOpen& open) {
  const int n = open.instance().tasks();
  reach_.assign(n, std::vector<char>(n, 0));
  const auto& order = open.instance().graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task)
    for (const Joint& edge : open.after(*task)) {
      reach_[*task][edge.to] = 1;
      for (int other = 0; other < n; ++other)
        if (reach_[edge.to][other]) reach_[*task][other] = 1;
    }
}

bool TransferClusters::bind(TransferOpen& open) const {
  const int n = open.instance().tasks();
  std::vector<char> seen(n, 0);
  bool changed = false;
  for (int first = 0; first < n; ++first) {
    if (seen[first]) continue;
    const Cluster cluster = cluster_of(open, first, seen);
    for (int type = 0; type < open.types() && cluster.size() > 1; ++type)
      changed = bind(open, cluster, type) || changed;
  }
  return changed;
}

bool TransferClusters::bind(TransferOpen& open, const Cluster& cluster, int type) const {
  bool fits = true, changed = false;
  for (const int task : cluster) fits = fits && open.open(task, type);
  if (fits && intervals_fit(open, cluster, type)) {
    const Fit pairs = pairs_fit(open, cluster, type);
    fits = pairs.fits;
    changed = pairs.changed;
  } else {
    fits = false;
  }
  for (const int task : cluster) {
    if (fits) {
      changed = ordered(open, cluster, task, type, false) || changed;
      changed = ordered(open, cluster, task, type, true) || changed;
    } else {
      changed = changed || open.open(task, type);
      open.close({false, task, type});
    }
  }
  return changed;
}

// On one unit: not if two tasks fit in no order.
TransferClusters::Fit TransferClusters::pairs_fit(TransferOpen& open, const Cluster& cluster,
                                                  int type) const {
  if (open.home(type) > 1) return {true, false};
  bool changed = false;
  const auto fits = [&](int a, int b) {
    return !reach_[b][a] &&
           open.head(a, type) + open.time(a, type) + open.time(b, type) + open.tail(b, type) <=
               open.limit();
  };
  for (const int a : cluster)
    for (const int b : cluster) {
      if (a == b || fits(b, a)) continue;
      if (!fits(a, b)) return {false, changed};
      changed = open.lift(b, type, open.head(a, type) + open.time(a, type), false) || changed;
      changed = open.lift(a, type, open.tail(b, type) + open.time(b, type), true) || changed;
    }
  return {true, changed};
}

bool TransferClusters::ordered(TransferOpen& open, const Cluster& cluster, int task, int type,
                               bool backward) const {
  std::vector<Work> work;
  for (const int other : cluster)
    if (backward ? reach_[task][other] : reach_[other][task])
      work.push_back(
          {backward ? open.tail(other, type) : open.head(other, type), open.time(other, type)});
  return open.lift(task, type, all_done(std::move(work), open.home(type)), backward);
}

}  // namespace cosched::dags::check
