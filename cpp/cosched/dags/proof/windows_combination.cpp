#include "cosched/dags/proof/windows_combination.hpp"

namespace cosched::dags::proof {

WindowsCombination::WindowsCombination(const TimeWindows& windows, const RefutationStage& stage)
    : windows_(windows),
      stage_(stage),
      task_flow_(windows.instance().tasks(), 0.0),
      intervals_(windows.instance().types()),
      least_price_(windows.instance().tasks()) {
  const Instance& instance = windows.instance();
  const int n = instance.tasks();
  double weight = 0, left_side = 0;
  for (const double load : stage.loads) weight += load;
  if (!stage.task_flow.empty()) {
    std::vector<double> in(n, 0.0), out(n, 0.0);
    for (const auto& [from, to, amount] : stage.edge_flow) {
      out[from] += amount;
      in[to] += amount;
    }
    for (int task = 0; task < n; ++task) {
      task_flow_[task] = std::max({stage.task_flow[task], in[task], out[task]});
      weight += task_flow_[task] - in[task];
      left_side += (task_flow_[task] - in[task]) * windows.head(task) +
                   (task_flow_[task] - out[task]) * windows.tail(task);
    }
  }
  right_side_ = weight * windows.makespan();
  for (const PricedInterval& priced : stage.intervals) {
    intervals_[priced.interval.type].push_back(&priced);
    right_side_ += priced.price * instance.units(priced.interval.type) *
                   (priced.interval.end - priced.interval.begin);
  }
  for (int task = 0; task < n; ++task) {
    least_price_[task] = kInfinity;
    for (int type = 0; type < instance.types(); ++type)
      if (windows.is_open(task, type))
        least_price_[task] = std::min(least_price_[task], price(task, type));
    left_side += least_price_[task];
  }
  left_excess_ = left_side - right_side_;
}

std::vector<TaskOnType> WindowsCombination::violating_types(double tolerance) const {
  std::vector<TaskOnType> pairs;
  for (int task = 0; task < windows_.instance().tasks(); ++task)
    for (int type = 0; type < windows_.instance().types(); ++type)
      if (windows_.only_type(task) < 0 && windows_.is_open(task, type) &&
          excess(tolerance) + price(task, type) - least_price_[task] > 0)
        pairs.push_back({task, type});
  return pairs;
}

double WindowsCombination::price(int task, int type) const {
  const Instance& instance = windows_.instance();
  double sum =
      instance.time(task, type) * (stage_.loads[type] / instance.units(type) + task_flow_[task]);
  for (const PricedInterval* priced : intervals_[type])
    sum += priced->price * energy_inside(windows_, task, priced->interval);
  return sum;
}

}  // namespace cosched::dags::proof
