// TransferChecker: tasks that must share a memory.
#include <algorithm>

#include "cosched/dags/check/transfer_checker.hpp"

namespace cosched::dags::check {

// reach_[i][j]: a path leads from i to j.
void TransferChecker::find_paths() {
  const int n = instance_.tasks();
  reach_.assign(n, std::vector<char>(n, 0));
  const auto& order = instance_.graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task)
    for (const Joint& edge : after_[*task]) {
      reach_[*task][edge.to] = 1;
      for (int other = 0; other < n; ++other)
        if (reach_[edge.to][other]) reach_[*task][other] = 1;
    }
}

// Tasks that must share a memory: what that closes, and the heads and tails it raises.  True: it
// did so.
bool TransferChecker::bind_clusters() {
  const int n = instance_.tasks();
  std::vector<int> label(n, -1);
  bool changed = false;
  for (int first = 0; first < n; ++first) {
    if (label[first] >= 0) continue;
    std::vector<int> cluster{first};
    label[first] = first;
    for (std::size_t k = 0; k < cluster.size(); ++k) {
      const auto visit = [&](const Joint& edge, int other) {
        if (label[other] >= 0 || !binding(edge)) return;
        label[other] = first;
        cluster.push_back(other);
      };
      for (const Joint& edge : after_[cluster[k]]) visit(edge, edge.to);
      for (const Joint& edge : before_[cluster[k]]) visit(edge, edge.from);
    }
    for (int type = 0; type < types_ && cluster.size() > 1; ++type)
      changed = bind(cluster, type) || changed;
  }
  return changed;
}

bool TransferChecker::binding(const Joint& edge) {
  for (int q = 0; q < types_; ++q)
    for (int r = 0; r < types_; ++r) {
      if (joint(edge.edge, q, r) && (q != r || home_[r] == 0)) return false;
      if (q == r && far(edge.edge, r)) return false;
    }
  return true;
}

bool TransferChecker::bind(const std::vector<int>& cluster, int type) {
  bool fits = true;
  for (const int task : cluster) fits = fits && open_[task][type];
  bool changed = false;
  if (fits && intervals_fit(cluster, type) && pairs_fit(cluster, type, changed)) {
    for (const int task : cluster) {
      changed = ordered(cluster, task, type, false) || changed;
      changed = ordered(cluster, task, type, true) || changed;
    }
    return changed;
  }
  for (const int task : cluster) {
    changed = changed || open_[task][type];
    open_[task][type] = 0;
  }
  return changed;
}

bool TransferChecker::intervals_fit(const std::vector<int>& cluster, int type) const {
  for (const int first : cluster)
    for (const int last : cluster) {
      const double begin = head_[first][type], end = makespan_ - tail_[last][type];
      double sum = 0;
      for (const int task : cluster)
        if (head_[task][type] >= begin && makespan_ - tail_[task][type] <= end)
          sum += time(task, type);
      if (sum > home_[type] * (end - begin + proof::kProofSlack * makespan_) && sum > 0)
        return false;
    }
  return true;
}

bool TransferChecker::pairs_fit(const std::vector<int>& cluster, int type, bool& changed) {
  if (home_[type] > 1) return true;
  const auto fits = [&](int a, int b) {
    return !reach_[b][a] && head_[a][type] + time(a, type) + time(b, type) + tail_[b][type] <=
                                makespan_ * (1 + proof::kProofSlack);
  };
  for (const int a : cluster)
    for (const int b : cluster) {
      if (a == b || fits(b, a)) continue;
      if (!fits(a, b)) return false;
      changed = lift(head_[b][type], head_[a][type] + time(a, type)) || changed;
      changed = lift(tail_[a][type], tail_[b][type] + time(b, type)) || changed;
    }
  return true;
}

bool TransferChecker::ordered(const std::vector<int>& cluster, int task, int type, bool backward) {
  auto& bound = backward ? tail_ : head_;
  std::vector<std::pair<double, double>> work;
  for (const int other : cluster)
    if (backward ? reach_[task][other] : reach_[other][task])
      work.emplace_back(bound[other][type], time(other, type));
  return lift(bound[task][type], done_at_home(std::move(work), home_[type]));
}

}  // namespace cosched::dags::check
