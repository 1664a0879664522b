#include "cosched/dags/hlp/fractional.hpp"

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

}  // namespace cosched::dags::hlp
