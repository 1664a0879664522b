#include "cosched/dags/hlp/bounds.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/hlp/area.hpp"

namespace cosched::dags::hlp {

double area_bound(const Instance& instance) {
  const AreaOptimum area = balance_loads(instance);
  // What the weights prove, not what x reaches: a bound in spite of rounding.
  double bound = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type)
      if (instance.can_run(task, type))
        least =
            std::min(least, instance.time(task, type) * area.weights[type] / instance.units(type));
    bound += least;
  }
  return bound;
}

double critical_path_bound(const Instance& instance) {
  std::vector<double> duration;
  for (int task = 0; task < instance.tasks(); ++task)
    duration.push_back(instance.time(task, instance.fastest(task)));
  const std::vector<double> end = earliest_ends(instance.graph(), duration);
  return *std::max_element(end.begin(), end.end());
}

}  // namespace cosched::dags::hlp
