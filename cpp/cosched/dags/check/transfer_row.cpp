#include "cosched/dags/check/transfer_row.hpp"

namespace cosched::dags::check {

TransferRow::TransferRow(const TransferOpen& open, const proof::TransferStage& stage)
    : open_(open),
      stage_(stage),
      types_(open.types()),
      needs_of_type_(open.instance().tasks(), std::vector<double>(types_, kInfinity)) {
  double right_side = priced_room();
  for (int task = 0; task < open.instance().tasks(); ++task) {
    const Flow flow = flow_at(task);
    right_side += (flow.through - flow.out) * open.makespan();
    for (int type = 0; type < types_; ++type)
      if (open.is_open(task, type)) needs_of_type_[task][type] = need(task, type, flow);
  }
  for (const NumberedEdge& edge : open.edges()) {
    for (int q = 0; q < types_; ++q)
      if (open.is_open(edge.from, q)) needs_of_type_[edge.from][q] += shift(edge, q);
    for (int r = 0; r < types_; ++r)
      if (open.is_open(edge.to, r)) needs_of_type_[edge.to][r] += second_task_price(edge, r);
  }
  for (const std::vector<double>& needs_of_task : needs_of_type_) {
    least_need_.push_back(*std::min_element(needs_of_task.begin(), needs_of_task.end()));
    left_side_ += least_need_.back();
  }
  constexpr double kShiftRounding = 10 * kSumTolerance;  // shifts add up to 0, but for this
  double rounding = 0;
  for (const double amount : stage.shift) rounding += kShiftRounding * std::abs(amount);
  greatest_left_side_ = right_side * (1 + proof::kProofSlack) + rounding;
}

std::vector<proof::TransferGuess> TransferRow::violating_choices() const {
  const double allowed_excess = greatest_left_side_ - left_side_;
  std::vector<proof::TransferGuess> choices;
  for (int task = 0; task < open_.instance().tasks(); ++task)
    for (int type = 0; type < types_; ++type)
      if (open_.is_open(task, type) && extra_need(task, type) > allowed_excess)
        choices.push_back({false, task, type});
  for (const NumberedEdge& edge : open_.edges())
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        const auto breaks = [&](double cost) {
          return needs_of_type_[edge.from][q] - least_need_[edge.from] +
                     needs_of_type_[edge.to][r] - least_need_[edge.to] +
                     (remaining_price(edge, q, cost) - second_task_price(edge, r)) >
                 allowed_excess;
        };
        if (open_.can_be_near(edge, q, r) && breaks(open_.near_cost(edge, q, r)))
          choices.push_back({true, edge.edge, q * types_ + r});
        if (open_.can_be_far(edge, q, r) && breaks(open_.far_cost(edge, q, r)))
          choices.push_back({true, edge.edge, types_ * types_ + r});
      }
  return choices;
}

// What the loads and the intervals have room for, at their prices.
double TransferRow::priced_room() const {
  double sum = 0;
  for (const double load : stage_.loads) sum += load * open_.makespan();
  for (const auto& [interval, price] : stage_.intervals)
    sum += price * open_.instance().units(interval.type) * (interval.end - interval.begin);
  return sum;
}

TransferRow::Flow TransferRow::flow_at(int task) const {
  Flow flow{0, 0, 0};
  if (stage_.task_flow.empty()) return flow;
  for (const NumberedEdge& edge : open_.before(task)) flow.in += stage_.edge_flow[edge.edge];
  for (const NumberedEdge& edge : open_.after(task)) flow.out += stage_.edge_flow[edge.edge];
  flow.through = std::max(stage_.task_flow[task], std::max(flow.in, flow.out));
  return flow;
}

// What a pair needs of the row, by its task alone.  Flow that begins here comes after its head,
// flow that ends before its tail.
double TransferRow::need(int task, int type, const Flow& flow) const {
  const double p = open_.time(task, type);
  const double head = open_.head(task, type), tail = open_.tail(task, type);
  const double flow_begun = flow.through - flow.in, flow_ended = flow.through - flow.out;
  double sum = stage_.loads[type] * p / open_.instance().units(type) + flow.through * p;
  if (flow_begun > 0) sum += flow_begun * head;
  if (flow_ended > 0) sum += flow_ended * tail;
  for (const auto& [interval, price] : stage_.intervals) {
    if (interval.type != type) continue;
    const double inside_if_early = head + p - interval.begin;
    const double inside_if_late = interval.end - (open_.makespan() - tail - p);
    const double inside_time = std::min(std::min(p, interval.end - interval.begin),
                                        std::min(inside_if_early, inside_if_late));
    if (inside_time > 0) sum += price * inside_time;
  }
  return sum;
}

// What remains of the price of an edge at a cost after the share of its first task, on q.
double TransferRow::remaining_price(const NumberedEdge& edge, int q, double cost) const {
  const double flow = stage_.edge_flow.empty() ? 0 : stage_.edge_flow[edge.edge];
  return flow * cost - shift(edge, q);
}

// The second task's share, on r.
double TransferRow::second_task_price(const NumberedEdge& edge, int r) const {
  double least = kInfinity;
  for (int q = 0; q < types_; ++q)
    if (open_.can_be(edge, q, r))
      least = std::min(least, remaining_price(edge, q, open_.cost(edge, q, r)));
  return least;
}

}  // namespace cosched::dags::check
