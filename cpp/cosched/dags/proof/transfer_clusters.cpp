#include "cosched/dags/proof/transfer_clusters.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "cosched/dags/proof/load_heads.hpp"

namespace cosched::dags::proof {
namespace {

using Cluster = std::vector<int>;  // tasks in topological order

// All with two tasks or more of which anything has changed, by their lowest task.
std::vector<Cluster> changed_clusters(TransferWindows& windows) {
  const TypeCosts& costs = windows.costs();
  const int n = windows.instance().tasks();
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int task) {
    while (root[task] != task) task = root[task] = root[root[task]];
    return task;
  };
  for (int edge = 0; edge < costs.edges(); ++edge)
    if (windows.binds(edge)) {
      const int a = find(costs.from(edge)), b = find(costs.to(edge));
      root[std::max(a, b)] = std::min(a, b);
    }
  std::vector<char> changed(n, 0);
  for (int task = 0; task < n; ++task) {
    changed[find(task)] |= windows.touched(task);
    windows.settle(task);
  }
  std::vector<Cluster> clusters(n);
  for (const int task : windows.instance().graph().order())
    if (changed[find(task)]) clusters[find(task)].push_back(task);
  clusters.erase(std::remove_if(clusters.begin(), clusters.end(),
                                [](const Cluster& cluster) { return cluster.size() < 2; }),
                 clusters.end());
  windows.count(4LL * (n + costs.edges()));
  return clusters;
}

// What a cluster says if it runs on one type.
class ClusterOnType {
 public:
  ClusterOnType(TransferWindows& windows, const Cluster& cluster, int type, double slack)
      : windows_(windows),
        costs_(windows.costs()),
        cluster_(cluster),
        type_(type),
        units_(costs_.together(type)),
        slack_(slack) {}

  // Raises heads and tails, or closes the type to all of the cluster.  True: something has changed.
  bool bind() {
    const bool everywhere = std::all_of(cluster_.begin(), cluster_.end(),
                                        [&](int task) { return windows_.open(task, type_); });
    if (everywhere && intervals_fit() && (units_ > 1 || pairs_fit())) {
      order(false);
      order(true);
    } else {
      for (const int task : cluster_) changed_ |= windows_.close(task, type_);
    }
    return changed_;
  }

 private:
  double time(int task) const { return windows_.instance().time(task, type_); }
  double head(int task) const { return windows_.head(task, type_); }
  double tail(int task) const { return windows_.tail(task, type_); }
  void lift(int task, double bound, bool backward) {
    changed_ |= windows_.lift(task, type_, bound, backward);
  }
  void count_squares(int steps) {
    windows_.count(static_cast<std::int64_t>(steps) * cluster_.size() * cluster_.size());
  }

  // Whether all that must lie between a head and a latest end fits there.
  bool intervals_fit() {
    std::vector<std::pair<double, int>> ends;  // latest end, task
    for (const int task : cluster_) ends.emplace_back(windows_.makespan() - tail(task), task);
    std::sort(ends.begin(), ends.end());
    count_squares(4);
    for (const int first : cluster_) {
      const double begin = head(first);
      double sum = 0;
      for (const auto& [end, task] : ends) {
        if (head(task) < begin) continue;
        sum += time(task);
        if (sum > units_ * (end - begin + slack_ * windows_.makespan())) return false;
      }
    }
    return true;
  }

  // On one unit: false if two tasks fit in no order.
  bool pairs_fit() {
    const double limit = windows_.makespan() * (1 + slack_);
    count_squares(6);
    const auto fits = [&](int a, int b) {
      return !costs_.reaches(b, a) && head(a) + time(a) + time(b) + tail(b) <= limit;
    };
    for (std::size_t k = 0; k < cluster_.size(); ++k)
      for (std::size_t l = k + 1; l < cluster_.size(); ++l) {
        int a = cluster_[k], b = cluster_[l];
        const bool forward = fits(a, b), backward = fits(b, a);
        if (!forward && !backward) return false;
        if (forward && backward) continue;
        if (backward) std::swap(a, b);
        lift(b, head(a) + time(a), false);
        lift(a, tail(b) + time(b), true);
      }
    return true;
  }

  // Heads (tails) by ancestors (descendants) in the cluster.
  void order(bool backward) {
    std::vector<Load> before;
    count_squares(20);
    for (std::size_t k = 0; k < cluster_.size(); ++k) {
      const int task = cluster_[backward ? cluster_.size() - 1 - k : k];
      before.clear();
      for (const int other : cluster_)
        if (backward ? costs_.reaches(task, other) : costs_.reaches(other, task))
          before.push_back({backward ? tail(other) : head(other), time(other) / units_});
      lift(task, all_done(before), backward);
    }
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  const Cluster& cluster_;
  int type_;
  double units_, slack_;
  bool changed_ = false;
};

}  // namespace

bool prune(TransferWindows& windows, double slack, bool clusters) {
  for (bool changed = true; changed;) {
    if (!windows.prune(slack)) return false;
    changed = false;
    if (!clusters || !windows.costs().any()) break;
    for (const Cluster& cluster : changed_clusters(windows))
      for (int type = 0; type < windows.costs().types(); ++type)
        changed |= ClusterOnType(windows, cluster, type, slack).bind();
  }
  return true;
}

}  // namespace cosched::dags::proof
