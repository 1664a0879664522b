// What the check of a TransfersCertificate makes of a stage: the combined row, and who must share a
// memory.
#pragma once

#include "cosched/dags/check/transfer_open.hpp"

namespace cosched::dags::check {

using Joint = TransferOpen::Joint;

class TransferRow {
 public:
  TransferRow(const TransferOpen& open, const proof::TransferStage& stage)
      : open_(open),
        stage_(stage),
        types_(open.types()),
        needs_(open.instance().tasks(), std::vector<double>(types_, kInfinity)) {
    double right = room();
    for (int task = 0; task < open.instance().tasks(); ++task) {
      const Flow flow = flow_at(task);
      right += (flow.through - flow.out) * open.makespan();
      for (int type = 0; type < types_; ++type)
        if (open.open(task, type)) needs_[task][type] = need(task, type, flow);
    }
    for (const Joint& edge : open.edges()) {
      for (int q = 0; q < types_; ++q)
        if (open.open(edge.from, q)) needs_[edge.from][q] += shift(edge, q);
      for (int r = 0; r < types_; ++r)
        if (open.open(edge.to, r)) needs_[edge.to][r] += second(edge, r);
    }
    for (const std::vector<double>& needs : needs_) {
      least_.push_back(*std::min_element(needs.begin(), needs.end()));
      left_ += least_.back();
    }
    double rounding = 0;  // shifts add up to nothing, but for this
    for (const double amount : stage.shift) rounding += 1e-11 * std::abs(amount);
    allowed_ = right * (1 + proof::kProofSlack) + rounding;
  }

  /// Whether it cannot hold.
  bool breaks() const { return left_ > allowed_; }
  /// Pairs and ways with which it cannot hold, all by the same prices.
  std::vector<proof::TransferGuess> broken() const {
    const double rest = allowed_ - left_;
    std::vector<proof::TransferGuess> found;
    for (int task = 0; task < open_.instance().tasks(); ++task)
      for (int type = 0; type < types_; ++type)
        if (open_.open(task, type) && extra(task, type) > rest)
          found.push_back({false, task, type});
    for (const Joint& edge : open_.edges())
      for (int q = 0; q < types_; ++q)
        for (int r = 0; r < types_; ++r) {
          const auto breaks = [&](double cost) {
            return needs_[edge.from][q] - least_[edge.from] + needs_[edge.to][r] - least_[edge.to] +
                       (remaining(edge, q, cost) - second(edge, r)) >
                   rest;
          };
          if (open_.near_allowed(edge, q, r) && breaks(open_.near_cost(edge, q, r)))
            found.push_back({true, edge.edge, q * types_ + r});
          if (open_.far_allowed(edge, q, r) && breaks(open_.far_cost(edge, q, r)))
            found.push_back({true, edge.edge, types_ * types_ + r});
        }
    return found;
  }

 private:
  struct Flow {
    double in, out, through;
  };
  // What the loads and the intervals have room for, at their prices.
  double room() const {
    double sum = 0;
    for (const double load : stage_.loads) sum += load * open_.makespan();
    for (const auto& [interval, price] : stage_.intervals)
      sum += price * open_.instance().units(interval.type) * (interval.end - interval.begin);
    return sum;
  }

  Flow flow_at(int task) const {
    Flow flow{0, 0, 0};
    if (stage_.task_flow.empty()) return flow;
    for (const Joint& edge : open_.before(task)) flow.in += stage_.edge_flow[edge.edge];
    for (const Joint& edge : open_.after(task)) flow.out += stage_.edge_flow[edge.edge];
    flow.through = std::max(stage_.task_flow[task], std::max(flow.in, flow.out));
    return flow;
  }

  // What a pair needs of the row, by its task alone.  Flow that begins here comes after its head,
  // flow that ends before its tail.
  double need(int task, int type, const Flow& flow) const {
    const double p = open_.time(task, type);
    const double head = open_.head(task, type), tail = open_.tail(task, type);
    const double begun = flow.through - flow.in, ended = flow.through - flow.out;
    double sum = stage_.loads[type] * p / open_.instance().units(type) + flow.through * p;
    if (begun > 0) sum += begun * head;
    if (ended > 0) sum += ended * tail;
    for (const auto& [interval, price] : stage_.intervals) {
      if (interval.type != type) continue;
      const double early = head + p - interval.begin;
      const double late = interval.end - (open_.makespan() - tail - p);
      const double inside =
          std::min(std::min(p, interval.end - interval.begin), std::min(early, late));
      if (inside > 0) sum += price * inside;
    }
    return sum;
  }

  double shift(const Joint& edge, int q) const {
    return stage_.shift.empty() ? 0 : stage_.shift[edge.edge * 1UL * types_ + q];
  }

  // What remains of the price of an edge at a cost after the share of its first task, on q.
  double remaining(const Joint& edge, int q, double cost) const {
    const double flow = stage_.edge_flow.empty() ? 0 : stage_.edge_flow[edge.edge];
    return flow * cost - shift(edge, q);
  }

  // The second task's share, on r.
  double second(const Joint& edge, int r) const {
    double least = kInfinity;
    for (int q = 0; q < types_; ++q)
      if (open_.allowed(edge, q, r))
        least = std::min(least, remaining(edge, q, open_.cost(edge, q, r)));
    return least;
  }

  double extra(int task, int type) const { return needs_[task][type] - least_[task]; }

  const TransferOpen& open_;
  const proof::TransferStage& stage_;
  int types_;
  std::vector<std::vector<double>> needs_;  // of each task on each type
  std::vector<double> least_;               // of each task
  double left_ = 0, allowed_ = 0;
};

// Tasks that must share a memory, as the check of a TransfersCertificate sees them.

class TransferClusters {
 public:
  explicit TransferClusters(const TransferOpen& open) {
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

  /// What clusters close, and the heads and tails they raise.  True: they did so.
  bool bind(TransferOpen& open) const {
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

 private:
  using Cluster = std::vector<int>;
  struct Fit {
    bool fits, changed;
  };

  static bool binding(const TransferOpen& open, const Joint& edge) {
    for (int q = 0; q < open.types(); ++q)
      for (int r = 0; r < open.types(); ++r) {
        if (open.joint(edge.edge, q, r) && (q != r || open.home(r) == 0)) return false;
        if (q == r && open.far(edge.edge, r)) return false;
      }
    return true;
  }

  // All tasks that edges of one memory join to `first`; labels them.
  static Cluster cluster_of(const TransferOpen& open, int first, std::vector<char>& seen) {
    Cluster cluster{first};
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

  static bool intervals_fit(const TransferOpen& open, const Cluster& cluster, int type) {
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

  bool bind(TransferOpen& open, const Cluster& cluster, int type) const {
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
  Fit pairs_fit(TransferOpen& open, const Cluster& cluster, int type) const {
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

  bool ordered(TransferOpen& open, const Cluster& cluster, int task, int type,
               bool backward) const {
    std::vector<Work> work;
    for (const int other : cluster)
      if (backward ? reach_[task][other] : reach_[other][task])
        work.push_back(
            {backward ? open.tail(other, type) : open.head(other, type), open.time(other, type)});
    return open.lift(task, type, all_done(std::move(work), open.home(type)), backward);
  }

  std::vector<std::vector<char>> reach_;  // [i][j]: a path leads from i to j
};

}  // namespace cosched::dags::check
