#include "cosched/dags/hlp/trade_off.hpp"

#include <utility>

#include "cosched/core/numeric.hpp"

namespace cosched::dags::hlp {

std::vector<double> fractional_durations(const Instance& instance, const Table& x) {
  std::vector<double> duration(instance.tasks(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) > 0) duration[task] += instance.time(task, type) * x(task, type);
  return duration;
}

std::vector<double> fractional_loads(const Instance& instance, const Table& x) {
  std::vector<double> loads(instance.types(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) > 0) loads[type] += instance.time(task, type) * x(task, type);
  for (int type = 0; type < instance.types(); ++type) loads[type] /= instance.units(type);
  return loads;
}

TradeOff::Optimum TradeOff::minimise(const std::vector<double>& weights) {
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int type = 0; type < instance_.types(); ++type)
      if (instance_.time(task, type) < kInfinity)
        cost_(task, type) = instance_.time(task, type) * weights[type] / instance_.units(type);
  opt::TimeCost::Optimum found = flow_.minimise(cost_, weights.back());
  std::vector<double> measures = fractional_loads(instance_, found.x);
  measures.push_back(flow_.path(fractional_durations(instance_, found.x)));
  return {found.bound, {std::move(found.x), std::move(measures)}};
}

}  // namespace cosched::dags::hlp
