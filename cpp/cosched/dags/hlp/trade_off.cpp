#include "cosched/dags/hlp/trade_off.hpp"

#include "cosched/dags/hlp/fractional.hpp"

namespace cosched::dags::hlp {

TradeOff::RelaxationOptimum TradeOff::minimise(const std::vector<double>& weights) {
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int type = 0; type < instance_.types(); ++type)
      if (instance_.time(task, type) < kInfinity)
        cost_(task, type) = instance_.time(task, type) * weights[type] / instance_.units(type);
  opt::TimeCost::TimeCostOptimum optimum = flow_.minimise(cost_, weights.back());
  std::vector<double> measures = fractional_loads(instance_, optimum.x);
  measures.push_back(flow_.path(fractional_durations(instance_, optimum.x)));
  return {optimum.bound, {std::move(optimum.x), std::move(measures)}};
}

}  // namespace cosched::dags::hlp
