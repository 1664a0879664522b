#include "cosched/dags/list/unit_pool.hpp"

namespace cosched::dags::list {

int UnitPool::take_unit(double start, double end) {
  now_ = start;
  while (!busy_units_.empty() && busy_units_.top().first <= start) {
    idle_units_.push(busy_units_.top().second);
    busy_units_.pop();
  }
  const int unit = idle_units_.top();
  idle_units_.pop();
  busy_units_.emplace(end, unit);
  return unit;
}

}  // namespace cosched::dags::list
