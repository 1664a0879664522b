// TransferChecker: combined rows.
#include <cmath>

#include "cosched/dags/check/transfer_checker.hpp"

namespace cosched::dags::check {

// What a pair needs of the combined row, by its task alone.
double TransferChecker::need(const proof::TransferStage& stage, double flow, double begun,
                             double ended, int task, int type) const {
  const double p = time(task, type), head = head_[task][type], tail = tail_[task][type];
  double sum = stage.loads[type] * p / instance_.units(type) + flow * p;
  if (begun > 0) sum += begun * head;
  if (ended > 0) sum += ended * tail;
  for (const auto& [interval, price] : stage.intervals) {
    if (interval.type != type) continue;
    const double early = head + p - interval.begin;
    const double late = interval.end - (makespan_ - tail - p);
    const double inside =
        std::min(std::min(p, interval.end - interval.begin), std::min(early, late));
    if (inside > 0) sum += price * inside;
  }
  return sum;
}

// What the loads and the intervals have room for, at their prices.
double TransferChecker::room(const proof::TransferStage& stage) const {
  double sum = 0;
  for (const double load : stage.loads) sum += load * makespan_;
  for (const auto& [interval, price] : stage.intervals)
    sum += price * instance_.units(interval.type) * (interval.end - interval.begin);
  return sum;
}

// Flow into a task, out of it and through it.
TransferChecker::Flow TransferChecker::flow_at(const proof::TransferStage& stage, int task) const {
  Flow flow{0, 0, 0};
  if (stage.task_flow.empty()) return flow;
  for (const Joint& edge : before_[task]) flow.in += stage.edge_flow[edge.edge];
  for (const Joint& edge : after_[task]) flow.out += stage.edge_flow[edge.edge];
  flow.through = std::max(stage.task_flow[task], std::max(flow.in, flow.out));
  return flow;
}

// Pairs and ways that need more than the rest beyond the least.
std::vector<proof::TransferGuess> TransferChecker::broken(const proof::TransferStage& stage,
                                                          const Needs& needs,
                                                          const std::vector<double>& least,
                                                          double rest) {
  std::vector<proof::TransferGuess> found;
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int type = 0; type < types_; ++type)
      if (open_[task][type] && needs[task][type] - least[task] > rest)
        found.push_back({false, task, type});
  for (const Joint& edge : edges_)
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        const double ends =
            needs[edge.from][q] - least[edge.from] + needs[edge.to][r] - least[edge.to];
        if (near_allowed(edge, q, r) &&
            ends + spare(stage, edge, q, r, near_cost(edge, q, r)) > rest)
          found.push_back({true, edge.edge, q * types_ + r});
        if (far_allowed(edge, q, r) &&
            ends + spare(stage, edge, q, r, instance_.transfers().remote(edge.edge, q, r)) > rest)
          found.push_back({true, edge.edge, types_ * types_ + r});
      }
  return found;
}

// True: the combined row cannot hold.  Otherwise closes the pairs with which it cannot.
bool TransferChecker::combine(const proof::TransferStage& stage) {
  const int n = instance_.tasks();
  double left = 0, right = room(stage);
  Needs needs(n, std::vector<double>(types_, kInfinity));
  for (int task = 0; task < n; ++task) {
    const auto [in, out, through] = flow_at(stage, task);
    right += (through - out) * makespan_;
    for (int type = 0; type < types_; ++type)
      if (open_[task][type])
        needs[task][type] = need(stage, through, through - in, through - out, task, type);
  }
  for (const Joint& edge : edges_) share(stage, edge, needs);
  std::vector<double> least(n);
  for (int task = 0; task < n; ++task) {
    least[task] = *std::min_element(needs[task].begin(), needs[task].end());
    left += least[task];
  }
  double rounding = 0;  // shifts add up to nothing, but for this
  for (const double amount : stage.shift) rounding += 1e-11 * std::abs(amount);
  const double allowed_most = right * (1 + proof::kProofSlack) + rounding;
  if (!(left <= allowed_most)) return left > allowed_most;
  // All by the same prices, before any is closed.
  for (const auto& [of_edge, item, choice] : broken(stage, needs, least, allowed_most - left))
    close(of_edge, item, choice);
  return false;
}

// The second task's share.
double TransferChecker::second(const proof::TransferStage& stage, const Joint& edge, int r) {
  double least = kInfinity;
  for (int q = 0; q < types_; ++q)
    if (allowed(edge, q, r)) least = std::min(least, remaining(stage, edge, q, cost(edge, q, r)));
  return least;
}

void TransferChecker::share(const proof::TransferStage& stage, const Joint& edge, Needs& needs) {
  for (int q = 0; q < types_; ++q)
    if (open_[edge.from][q]) needs[edge.from][q] += shift(stage, edge, q);
  for (int r = 0; r < types_; ++r)
    if (open_[edge.to][r]) needs[edge.to][r] += second(stage, edge, r);
}

}  // namespace cosched::dags::check
