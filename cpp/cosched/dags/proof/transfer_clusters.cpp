// TransferWindows: tasks that must share a memory.
#include <algorithm>
#include <functional>
#include <numeric>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {
namespace {

// A head that rises by less (relative to T) is not worth another round.
constexpr double kRise = 1e-9;

}  // namespace

// Whether the ends of an edge are in one memory, of units of one type.
bool TransferWindows::binding(int edge) const {
  for (int way = 0; way < costs_->ways(); ++way) {
    if (!way_open(edge, way)) continue;
    const int type = costs_->first_type(way);
    if (way != costs_->way(type, type) || costs_->together(type) == 0) return false;
  }
  return true;
}

void TransferWindows::bind_clusters(double slack) {
  const int n = instance().tasks();
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int task) {
    while (root[task] != task) task = root[task] = root[root[task]];
    return task;
  };
  for (int edge = 0; edge < costs_->edges(); ++edge)
    if (binding(edge)) {
      const int a = find(costs_->from(edge)), b = find(costs_->to(edge));
      root[std::max(a, b)] = std::min(a, b);
    }
  std::vector<std::vector<int>> clusters(n);
  for (const int task : instance().graph().order()) clusters[find(task)].push_back(task);
  for (const std::vector<int>& cluster : clusters)
    if (cluster.size() > 1) bind(cluster, slack);
}

void TransferWindows::bind(const std::vector<int>& cluster, double slack) {
  for (int type = 0; type < types_; ++type) {
    const bool everywhere =
        std::all_of(cluster.begin(), cluster.end(), [&](int task) { return open(task, type); });
    if (everywhere && fits_on(cluster, type, slack) &&
        (costs_->together(type) > 1 || order_pairs(cluster, type, slack))) {
      order_on(cluster, type, false);
      order_on(cluster, type, true);
      continue;
    }
    for (const int task : cluster) close(task, type);
  }
}

// Whether all that must lie between a head and a latest end fits there.
bool TransferWindows::fits_on(const std::vector<int>& cluster, int type, double slack) {
  std::vector<std::pair<double, int>> ends;
  for (const int task : cluster) ends.emplace_back(makespan_ - tail(task, type), task);
  std::sort(ends.begin(), ends.end());
  const int units = costs_->together(type);
  steps_ += 4LL * cluster.size() * cluster.size();
  for (const int first : cluster) {
    const double begin = head(first, type);
    double sum = 0;
    for (const auto& [end, task] : ends) {
      if (head(task, type) < begin) continue;
      sum += instance().time(task, type);
      if (sum > units * (end - begin + slack * makespan_)) return false;
    }
  }
  return true;
}

void TransferWindows::lift(int task, int type, double bound, bool backward) {
  double& now = (backward ? tail_ : head_)[pair(task, type)];
  if (bound > now + kRise * makespan_) changed_ = true;
  now = std::max(now, bound);
}

// Heads (tails) by ancestors (descendants) in the cluster, which is in topological order.
void TransferWindows::order_on(const std::vector<int>& cluster, int type, bool backward) {
  const double units = costs_->together(type);
  std::vector<std::pair<double, double>> before;
  steps_ += 20LL * cluster.size() * cluster.size();
  for (std::size_t k = 0; k < cluster.size(); ++k) {
    const int task = cluster[backward ? cluster.size() - 1 - k : k];
    before.clear();
    for (const int other : cluster)
      if (backward ? costs_->reaches(task, other) : costs_->reaches(other, task))
        before.emplace_back(side(backward)[pair(other, type)],
                            instance().time(other, type) / units);
    std::sort(before.begin(), before.end(), std::greater<>());
    double sum = 0, most = 0;
    for (const auto& [bound, work] : before) most = std::max(most, bound + (sum += work));
    lift(task, type, most, backward);
  }
}

// On one unit: false if two tasks fit in no order.
bool TransferWindows::order_pairs(const std::vector<int>& cluster, int type, double slack) {
  const double limit = makespan_ * (1 + slack);
  steps_ += 6LL * cluster.size() * cluster.size();
  const auto fits = [&](int a, int b) {
    return !costs_->reaches(b, a) &&
           head(a, type) + instance().time(a, type) + instance().time(b, type) + tail(b, type) <=
               limit;
  };
  for (std::size_t k = 0; k < cluster.size(); ++k)
    for (std::size_t l = k + 1; l < cluster.size(); ++l) {
      int a = cluster[k], b = cluster[l];
      const bool forward = fits(a, b), backward = fits(b, a);
      if (!forward && !backward) return false;
      if (forward && backward) continue;
      if (backward) std::swap(a, b);
      lift(b, type, head(a, type) + instance().time(a, type), false);
      lift(a, type, tail(b, type) + instance().time(b, type), true);
    }
  return true;
}

}  // namespace cosched::dags::proof
