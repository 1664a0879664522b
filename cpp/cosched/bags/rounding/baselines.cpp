#include "cosched/bags/rounding/baselines.hpp"

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/rounding.hpp"

namespace cosched::bags::rounding {

BagPlan tms(const Instance& instance) {
  const energy::BestRate top_rate = energy::best_rate(instance, energy::Cut::none);
  if (top_rate.makespan == kInfinity) return min_energy(instance);
  Counts counts;
  energy::visit_pieces(instance, energy::Cut::none, [&](const energy::Walk& walk, double low) {
    if (low == top_rate.makespan) counts = round_by_largest_part(instance, walk.solution(low));
    return low > top_rate.makespan;
  });
  return make_plan(instance, counts);
}

BagPlan min_energy(const Instance& instance) {
  Counts counts(instance.types(), instance.machine_types());
  for (int i = 0; i < instance.types(); ++i)
    counts(i, instance.thriftiest_machine_type(i)) = instance.count(i);
  return make_plan(instance, counts);
}

BagPlan min_makespan(const Instance& instance) {
  Table x;
  energy::visit_pieces(instance, energy::Cut::long_tasks,
                       [&](const energy::Walk& walk, double low) {
                         x = walk.solution(low);
                         return true;
                       });
  return make_plan(instance, round_by_matching(instance, x));
}

}  // namespace cosched::bags::rounding
