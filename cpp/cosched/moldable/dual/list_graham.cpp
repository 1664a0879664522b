#include "cosched/moldable/dual/list_graham.hpp"

#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/list_schedule.hpp"

namespace cosched::moldable::dual {

Placement list_graham(const Instance& instance, ListOrder order, double tolerance) {
  return list_graham(instance, order, dual_approximation(instance, tolerance).schedule);
}

Placement list_graham(const Instance& instance, ListOrder order, const ShelfSchedule& shelves) {
  const Allotment procs = list::fitting_allotment(instance, shelves.placement.procs);
  if (order == ListOrder::shelf) return list::list_schedule(instance, procs, shelves.order);
  return list::list_schedule(instance, procs, list::order_jobs_by(instance.jobs(), [&](int i) {
                               const double time = instance.exact_time(i, procs[i]);
                               return order == ListOrder::saf ? procs[i] * time
                                                              : -instance.weight(i) / time;
                             }));
}

}  // namespace cosched::moldable::dual
