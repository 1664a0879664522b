// A combination of rows that hold for every schedule of at most T with transfers, and what it says
// of the pairs that are still open.
#pragma once

#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

class TransferCombination {
 public:
  TransferCombination(const TransferWindows& windows, const TransferStage& stage)
      : windows_(windows),
        stage_(stage),
        types_(windows.instance().types()),
        need_(windows.instance().times().size(), kInfinity),
        cheapest_(windows.instance().tasks(), kInfinity) {
    for (const double load : stage.loads) right_ += load * windows.makespan();
    for (const PricedInterval& priced : stage.intervals)
      right_ += priced.price * windows.instance().units(priced.interval.type) *
                (priced.interval.end - priced.interval.begin);
    for (const double shift : stage.shift) rounding_ += kRounding * std::abs(shift);
    add_tasks();
    add_edges();
    for (int task = 0; task < windows.instance().tasks(); ++task) {
      for (int type = 0; type < types_; ++type)
        cheapest_[task] = std::min(cheapest_[task], need(task, type));
      left_ += cheapest_[task];
    }
  }

  /// By how much even the cheapest types break the combined row, less `slack` relative to its
  /// right side: T is refuted where this is > 0.
  double excess(double slack) const { return left_ - right_ * (1 + slack) - rounding_; }
  /// Left side over right side, with room for rounding; 0 where either is not positive.
  double ratio() const { return right_ > 0 ? std::max(0.0, left_ - rounding_) / right_ : 0; }

  /// Open pairs of undecided tasks, and open ways, with which a schedule would break it.
  std::vector<Pair> broken_pairs(double slack) const {
    std::vector<Pair> pairs;
    for (int task = 0; task < windows_.instance().tasks(); ++task)
      for (int type = 0; type < types_ && windows_.only_type(task) < 0; ++type)
        if (windows_.open(task, type) && excess(slack) + extra(task, type) > 0)
          pairs.push_back({task, type});
    return pairs;
  }

  std::vector<EdgeWay> broken_ways(double slack) const {
    const TypeCosts& costs = windows_.costs();
    std::vector<EdgeWay> ways;
    for (int edge = 0; edge < costs.edges(); ++edge)
      for (int way = 0; way < costs.ways(); ++way) {
        if (!windows_.way_open(edge, way)) continue;
        const int q = costs.first_type(way), r = costs.second_type(way);
        if (excess(slack) + extra(costs.from(edge), q) + extra(costs.to(edge), r) +
                spare({edge, way}) >
            0)
          ways.push_back({edge, way});
      }
    return ways;
  }

 private:
  static constexpr double kRounding = 1e-11;  // relative to the shifts

  double& need(int task, int type) { return need_[static_cast<std::size_t>(task) * types_ + type]; }
  double extra(int task, int type) const {
    return need_[static_cast<std::size_t>(task) * types_ + type] - cheapest_[task];
  }

  // What remains of an edge's price at a cost when its first task, on q, has its shift.
  double rest(int edge, int q, double cost) const {
    const double flow = stage_.edge_flow.empty() ? 0 : stage_.edge_flow[edge];
    const double shift =
        stage_.shift.empty() ? 0 : stage_.shift[static_cast<std::size_t>(edge) * types_ + q];
    return flow * cost - shift;
  }

  // What a way of an edge takes beyond the least of its second task's type.
  double spare(EdgeWay of) const {
    if (second_.empty()) return 0;
    const TypeCosts& costs = windows_.costs();
    const int q = costs.first_type(of.way), r = costs.second_type(of.way);
    return rest(of.edge, q, costs.cost(of.edge, of.way)) -
           second_[static_cast<std::size_t>(of.edge) * types_ + r];
  }

  void add_tasks() {
    const Instance& instance = windows_.instance();
    const TypeCosts& costs = windows_.costs();
    for (int task = 0; task < instance.tasks(); ++task) {
      double flow = 0, in = 0, out = 0;
      if (!stage_.task_flow.empty()) {
        for (const int edge : costs.in(task)) in += stage_.edge_flow[edge];
        for (const int edge : costs.out(task)) out += stage_.edge_flow[edge];
        flow = std::max({stage_.task_flow[task], in, out});
        right_ += (flow - out) * windows_.makespan();
      }
      for (int type = 0; type < types_; ++type) {
        if (!windows_.open(task, type)) continue;
        need(task, type) =
            instance.time(task, type) * (stage_.loads[type] / instance.units(type) + flow);
        if (flow > in) need(task, type) += (flow - in) * windows_.head(task, type);
        if (flow > out) need(task, type) += (flow - out) * windows_.tail(task, type);
      }
      for (const PricedInterval& priced : stage_.intervals)
        if (windows_.open(task, priced.interval.type))
          need(task, priced.interval.type) +=
              priced.price * energy(windows_, task, priced.interval);
    }
  }

  void add_edges() {
    if (stage_.edge_flow.empty() && stage_.shift.empty()) return;
    const TypeCosts& costs = windows_.costs();
    second_.assign(static_cast<std::size_t>(costs.edges()) * types_, kInfinity);
    for (int edge = 0; edge < costs.edges(); ++edge) {
      const int i = costs.from(edge), j = costs.to(edge);
      for (int q = 0; q < types_; ++q) {
        if (!windows_.open(i, q)) continue;
        if (!stage_.shift.empty())
          need(i, q) += stage_.shift[static_cast<std::size_t>(edge) * types_ + q];
        for (int r = 0; r < types_; ++r) {
          double& second = second_[static_cast<std::size_t>(edge) * types_ + r];
          const double cost = windows_.cost(edge, q, r);
          if (cost < kInfinity && windows_.open(j, r))
            second = std::min(second, rest(edge, q, cost));
        }
      }
      for (int r = 0; r < types_; ++r)
        if (windows_.open(j, r)) need(j, r) += second_[static_cast<std::size_t>(edge) * types_ + r];
    }
  }

  const TransferWindows& windows_;
  const TransferStage& stage_;
  int types_;
  std::vector<double> need_;      // (n, Q)
  std::vector<double> second_;    // (e, Q): an edge's part of the price of its second task
  std::vector<double> cheapest_;  // n
  double left_ = 0, right_ = 0, rounding_ = 0;
};

}  // namespace cosched::dags::proof
