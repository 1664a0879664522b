#include "cosched/dags/proof/transfer_combination.hpp"

namespace cosched::dags::proof {

TransferCombination::TransferCombination(const TransferWindows& windows, const TransferStage& stage)
    : windows_(windows),
      stage_(stage),
      types_(windows.instance().types()),
      price_(windows.instance().times().size(), kInfinity),
      cheapest_(windows.instance().tasks(), kInfinity) {
  for (const double load : stage.loads) right_side_ += load * windows.makespan();
  for (const PricedInterval& priced : stage.intervals)
    right_side_ += priced.price * windows.instance().units(priced.interval.type) *
                   (priced.interval.end - priced.interval.begin);
  for (const double shift : stage.shift) rounding_error_ += kRounding * std::abs(shift);
  add_tasks();
  add_edges();
  for (int task = 0; task < windows.instance().tasks(); ++task) {
    for (int type = 0; type < types_; ++type)
      cheapest_[task] = std::min(cheapest_[task], price(task, type));
    left_side_ += cheapest_[task];
  }
}

std::vector<TaskOnType> TransferCombination::violating_types(double tolerance) const {
  std::vector<TaskOnType> pairs;
  for (int task = 0; task < windows_.instance().tasks(); ++task)
    for (int type = 0; type < types_ && windows_.only_type(task) < 0; ++type)
      if (windows_.is_open(task, type) && excess(tolerance) + extra_price(task, type) > 0)
        pairs.push_back({task, type});
  return pairs;
}

std::vector<EdgePlacement> TransferCombination::violating_placements(double tolerance) const {
  const TypeCosts& costs = windows_.costs();
  std::vector<EdgePlacement> placements;
  for (int edge = 0; edge < costs.edges(); ++edge)
    for (int placement = 0; placement < costs.placements(); ++placement) {
      if (!windows_.is_placement_open(edge, placement)) continue;
      const int q = costs.first_type(placement), r = costs.second_type(placement);
      if (excess(tolerance) + extra_price(costs.from(edge), q) + extra_price(costs.to(edge), r) +
              placement_excess({edge, placement}) >
          0)
        placements.push_back({edge, placement});
    }
  return placements;
}

// The price of an edge at a cost, less the shift that its first task pays on type q.
double TransferCombination::remaining_price(int edge, int q, double cost) const {
  const double flow = stage_.edge_flow.empty() ? 0 : stage_.edge_flow[edge];
  const double shift =
      stage_.shift.empty() ? 0 : stage_.shift[static_cast<std::size_t>(edge) * types_ + q];
  return flow * cost - shift;
}

// By how much a placement exceeds the least price of its edge for the type of the second task.
double TransferCombination::placement_excess(EdgePlacement target) const {
  if (second_task_price_.empty()) return 0;
  const TypeCosts& costs = windows_.costs();
  const int q = costs.first_type(target.placement), r = costs.second_type(target.placement);
  return remaining_price(target.edge, q, costs.cost(target.edge, target.placement)) -
         second_task_price_[static_cast<std::size_t>(target.edge) * types_ + r];
}

void TransferCombination::add_tasks() {
  const Instance& instance = windows_.instance();
  const TypeCosts& costs = windows_.costs();
  for (int task = 0; task < instance.tasks(); ++task) {
    double flow = 0, in = 0, out = 0;
    if (!stage_.task_flow.empty()) {
      for (const int edge : costs.in_edges(task)) in += stage_.edge_flow[edge];
      for (const int edge : costs.out_edges(task)) out += stage_.edge_flow[edge];
      flow = std::max({stage_.task_flow[task], in, out});
      right_side_ += (flow - out) * windows_.makespan();
    }
    for (int type = 0; type < types_; ++type) {
      if (!windows_.is_open(task, type)) continue;
      price(task, type) =
          instance.time(task, type) * (stage_.loads[type] / instance.units(type) + flow);
      if (flow > in) price(task, type) += (flow - in) * windows_.head(task, type);
      if (flow > out) price(task, type) += (flow - out) * windows_.tail(task, type);
    }
    for (const PricedInterval& priced : stage_.intervals)
      if (windows_.is_open(task, priced.interval.type))
        price(task, priced.interval.type) +=
            priced.price * energy_inside(windows_, task, priced.interval);
  }
}

void TransferCombination::add_edges() {
  if (stage_.edge_flow.empty() && stage_.shift.empty()) return;
  const TypeCosts& costs = windows_.costs();
  second_task_price_.assign(static_cast<std::size_t>(costs.edges()) * types_, kInfinity);
  for (int edge = 0; edge < costs.edges(); ++edge) {
    const int i = costs.from(edge), j = costs.to(edge);
    for (int q = 0; q < types_; ++q) {
      if (!windows_.is_open(i, q)) continue;
      if (!stage_.shift.empty())
        price(i, q) += stage_.shift[static_cast<std::size_t>(edge) * types_ + q];
      for (int r = 0; r < types_; ++r) {
        double& second = second_task_price_[static_cast<std::size_t>(edge) * types_ + r];
        const double cost = windows_.least_open_cost(edge, q, r);
        if (cost < kInfinity && windows_.is_open(j, r))
          second = std::min(second, remaining_price(edge, q, cost));
      }
    }
    for (int r = 0; r < types_; ++r)
      if (windows_.is_open(j, r))
        price(j, r) += second_task_price_[static_cast<std::size_t>(edge) * types_ + r];
  }
}

}  // namespace cosched::dags::proof
