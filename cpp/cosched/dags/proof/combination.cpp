#include "cosched/dags/proof/combination.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/proof/energetic.hpp"

namespace cosched::dags::proof {

double Combination::price(int task, int type) const {
  const Instance& instance = windows_.instance();
  double sum =
      instance.time(task, type) * (stage_.loads[type] / instance.units(type) + flow_[task]);
  for (const PricedInterval* priced : intervals_[type])
    sum += priced->price * energy(windows_, task, priced->interval);
  return sum;
}

Combination::Combination(const TimeWindows& windows, const RefutationStage& stage)
    : windows_(windows),
      stage_(stage),
      flow_(windows.instance().tasks(), 0.0),
      intervals_(windows.instance().types()),
      cheapest_(windows.instance().tasks()) {
  const Instance& instance = windows.instance();
  const int n = instance.tasks();
  double weight = 0, left = 0;
  for (const double load : stage.loads) weight += load;
  if (!stage.task_flow.empty()) {
    std::vector<double> in(n, 0.0), out(n, 0.0);
    for (const auto& [from, to, amount] : stage.edge_flow) {
      out[from] += amount;
      in[to] += amount;
    }
    for (int task = 0; task < n; ++task) {
      flow_[task] = std::max({stage.task_flow[task], in[task], out[task]});
      weight += flow_[task] - in[task];
      left += (flow_[task] - in[task]) * windows.head(task) +
              (flow_[task] - out[task]) * windows.tail(task);
    }
  }
  right_ = weight * windows.makespan();
  for (const PricedInterval& priced : stage.intervals) {
    intervals_[priced.interval.type].push_back(&priced);
    right_ += priced.price * instance.units(priced.interval.type) *
              (priced.interval.end - priced.interval.begin);
  }
  for (int task = 0; task < n; ++task) {
    cheapest_[task] = kInfinity;
    for (int type = 0; type < instance.types(); ++type)
      if (windows.open(task, type)) cheapest_[task] = std::min(cheapest_[task], price(task, type));
    left += cheapest_[task];
  }
  excess_ = left - right_;
}

std::vector<Pair> Combination::broken_pairs(double slack) const {
  std::vector<Pair> pairs;
  for (int task = 0; task < windows_.instance().tasks(); ++task)
    for (int type = 0; type < windows_.instance().types(); ++type)
      if (windows_.only_type(task) < 0 && windows_.open(task, type) &&
          excess(slack) + price(task, type) - cheapest_[task] > 0)
        pairs.push_back({task, type});
  return pairs;
}

}  // namespace cosched::dags::proof
