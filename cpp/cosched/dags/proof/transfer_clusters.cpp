#include "cosched/dags/proof/transfer_clusters.hpp"

#include "cosched/dags/proof/load_heads.hpp"

namespace cosched::dags::proof {
namespace {

using Cluster = std::vector<int>;  // tasks in topological order

// The clusters of two or more tasks in which a task has changed, by their lowest task; clears the
// flags of change.
std::vector<Cluster> changed_clusters(TransferWindows& windows) {
  const TypeCosts& costs = windows.costs();
  const int n = windows.instance().tasks();
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int task) {
    while (root[task] != task) {
      root[task] = root[root[task]];
      task = root[task];
    }
    return task;
  };
  for (int edge = 0; edge < costs.edges(); ++edge)
    if (windows.forces_same_memory(edge)) {
      const int a = find(costs.from(edge)), b = find(costs.to(edge));
      root[std::max(a, b)] = std::min(a, b);
    }
  std::vector<char> has_changed(n, 0);
  for (int task = 0; task < n; ++task) {
    has_changed[find(task)] |= windows.has_changed(task);
    windows.clear_changed(task);
  }
  std::vector<Cluster> clusters(n);
  for (const int task : windows.instance().graph().order())
    if (has_changed[find(task)]) clusters[find(task)].push_back(task);
  std::erase_if(clusters, [](const Cluster& cluster) { return cluster.size() < 2; });
  windows.add_steps(4LL * (n + costs.edges()));
  return clusters;
}

// Tightens the windows of the tasks of a cluster on one type.
class ClusterOnType {
 public:
  ClusterOnType(TransferWindows& windows, const Cluster& cluster, int type, double slack)
      : windows_(windows),
        costs_(windows.costs()),
        cluster_(cluster),
        type_(type),
        units_(costs_.units_per_memory(type)),
        tolerance_(slack) {}

  // Raises heads and tails on the type, or closes the type to all tasks of the cluster where they
  // do not fit together.  Returns whether something has changed.
  bool tighten() {
    const bool is_open_to_all = std::all_of(
        cluster_.begin(), cluster_.end(), [&](int task) { return windows_.is_open(task, type_); });
    if (is_open_to_all && can_fit_intervals() && (units_ > 1 || tighten_pairs())) {
      tighten_by_ancestors(false);
      tighten_by_ancestors(true);
    } else {
      for (const int task : cluster_) has_changed_ |= windows_.close_type(task, type_);
    }
    return has_changed_;
  }

 private:
  double time(int task) const { return windows_.instance().time(task, type_); }
  double head(int task) const { return windows_.head(task, type_); }
  double tail(int task) const { return windows_.tail(task, type_); }
  void tighten_bound(int task, double bound, bool backward) {
    has_changed_ |= windows_.tighten(task, type_, bound, backward);
  }
  void add_square_steps(int steps) {
    windows_.add_steps(static_cast<std::int64_t>(steps) * cluster_.size() * cluster_.size());
  }

  // Whether the tasks that must run between a head and a latest end have enough units for that.
  bool can_fit_intervals() {
    std::vector<std::pair<double, int>> ends;  // latest end, task
    for (const int task : cluster_) ends.emplace_back(windows_.makespan() - tail(task), task);
    std::sort(ends.begin(), ends.end());
    add_square_steps(4);
    for (const int first : cluster_) {
      const double begin = head(first);
      double sum = 0;
      for (const auto& [end, task] : ends) {
        if (head(task) < begin) continue;
        sum += time(task);
        if (sum > units_ * (end - begin + tolerance_ * windows_.makespan())) return false;
      }
    }
    return true;
  }

  // For one unit: raises the head of the second and the tail of the first of two tasks that fit in
  // one order only.  Returns false where two tasks fit in no order.
  bool tighten_pairs() {
    const double limit = windows_.makespan() * (1 + tolerance_);
    add_square_steps(6);
    const auto can_precede = [&](int a, int b) {
      return !costs_.has_path(b, a) && head(a) + time(a) + time(b) + tail(b) <= limit;
    };
    for (std::size_t k = 0; k < cluster_.size(); ++k)
      for (std::size_t l = k + 1; l < cluster_.size(); ++l) {
        int a = cluster_[k], b = cluster_[l];
        const bool forward = can_precede(a, b), backward = can_precede(b, a);
        if (!forward && !backward) return false;
        if (forward && backward) continue;
        if (backward) std::swap(a, b);
        tighten_bound(b, head(a) + time(a), false);
        tighten_bound(a, tail(b) + time(b), true);
      }
    return true;
  }

  // Raises heads (tails) by the ancestors (descendants) in the cluster.
  void tighten_by_ancestors(bool backward) {
    std::vector<AncestorLoad> ancestors;
    add_square_steps(20);
    for (std::size_t k = 0; k < cluster_.size(); ++k) {
      const int task = cluster_[backward ? cluster_.size() - 1 - k : k];
      ancestors.clear();
      for (const int other : cluster_)
        if (backward ? costs_.has_path(task, other) : costs_.has_path(other, task))
          ancestors.push_back({backward ? tail(other) : head(other), time(other) / units_});
      tighten_bound(task, completion_time(ancestors), backward);
    }
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  const Cluster& cluster_;
  int type_;
  double units_, tolerance_;
  bool has_changed_ = false;
};

}  // namespace

bool prune_with_clusters(TransferWindows& windows, double tolerance, bool uses_clusters) {
  for (bool needs_another_round = true; needs_another_round;) {
    if (!windows.prune(tolerance)) return false;
    needs_another_round = false;
    if (!uses_clusters || !windows.costs().has_costs()) break;
    for (const Cluster& cluster : changed_clusters(windows))
      for (int type = 0; type < windows.costs().types(); ++type)
        needs_another_round |= ClusterOnType(windows, cluster, type, tolerance).tighten();
  }
  return true;
}

}  // namespace cosched::dags::proof
